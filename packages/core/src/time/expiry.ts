/**
 * The end of a span, counted on two clocks: it has come as soon as it has come on either.
 *
 * The wall clock goes on while the machine sleeps or the process is frozen. The monotonic clock goes on when the wall
 * clock is set back. So a lifetime is never overestimated.
 */
export class Expiry {
  readonly #wall: number
  readonly #monotonic: number

  private constructor(wall: number, monotonic: number) {
    this.#wall = wall
    this.#monotonic = monotonic
  }

  /** Returns the end of `lifetime` milliseconds that begin at `start`. */
  static of(lifetime: number, start: Moment): Expiry {
    return new Expiry(start.wall + lifetime, start.monotonic + lifetime)
  }

  /** Returns the moment `by` milliseconds before the end. */
  sooner(by: number): Expiry {
    return new Expiry(this.#wall - by, this.#monotonic - by)
  }

  isOver(): boolean {
    return Date.now() >= this.#wall || performance.now() >= this.#monotonic
  }

  /** Returns how many milliseconds are left, by the clock that leaves less. */
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
