/**
 * The end of a span, counted on two clocks: it has come as soon as it has come on either.
 *
 * The wall clock goes on while the machine sleeps or the process is frozen. The monotonic clock goes on when the wall
 * clock is set back. So a lifetime is never overestimated.
 */
export class Expiry {
  readonly #wall: number
  readonly #monotonic: number

  /** The end of `lifetime` milliseconds that begin at `start`. */
  constructor(lifetime: number, start: Moment) {
    this.#wall = start.wall + lifetime
    this.#monotonic = start.monotonic + lifetime
  }

  /** Returns how many milliseconds are left, by the clock that leaves less; 0 or less after the end. */
  remaining(): number {
    return Math.min(this.#wall - Date.now(), this.#monotonic - performance.now())
  }

  /** The end on the wall clock. */
  get date(): Date {
    return new Date(this.#wall)
  }
}

/** The same moment on both clocks, in milliseconds. */
export interface Moment {
  readonly wall: number
  readonly monotonic: number
}

/** Returns the present moment. */
export const moment = (): Moment => ({ wall: Date.now(), monotonic: performance.now() })
