/**
 * One moment on two clocks, in milliseconds. What ends at a moment has ended as soon as it has on either clock.
 *
 * The wall clock goes on while the machine sleeps or the process is frozen. The monotonic clock goes on when the wall
 * clock is set back. So a lifetime is never overestimated.
 */
export interface Moment {
  readonly wall: number
  readonly monotonic: number
}

export const moment = (): Moment => ({ wall: Date.now(), monotonic: performance.now() })

export function later({ wall, monotonic }: Moment, ms: number): Moment {
  return { wall: wall + ms, monotonic: monotonic + ms }
}

/** Returns how many milliseconds are left until a moment, by the clock that leaves less; 0 or less after it. */
export function timeUntil({ wall, monotonic }: Moment): number {
  return Math.min(wall - Date.now(), monotonic - performance.now())
}
