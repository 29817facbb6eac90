/**
 * An end that has come as soon as either clock says so.
 *
 * The wall clock goes on while the machine sleeps or the process is frozen; the monotonic clock goes on when
 * somebody sets the wall clock back. A lifetime that is counted on both is never overestimated.
 */
export class Expiry {
  readonly #wall: number
  readonly #monotonic: number

  private constructor(wall: number, monotonic: number) {
    this.#wall = wall
    this.#monotonic = monotonic
  }

  /** The end of `lifetime` ms that begin at `start`. */
  static of(lifetime: number, start: Moment): Expiry {
    return new Expiry(start.wall + lifetime, start.monotonic + lifetime)
  }

  /** The same end, so many milliseconds sooner. */
  sooner(by: number): Expiry {
    return new Expiry(this.#wall - by, this.#monotonic - by)
  }

  isOver(): boolean {
    return Date.now() >= this.#wall || performance.now() >= this.#monotonic
  }

  /** Milliseconds that are left, by the clock that leaves less. */
  remaining(): number {
    return Math.min(this.#wall - Date.now(), this.#monotonic - performance.now())
  }

  /** The end on the wall clock, for people to read. */
  get date(): Date {
    return new Date(this.#wall)
  }
}

/** The same moment on both clocks, in milliseconds. */
export interface Moment {
  readonly wall: number
  readonly monotonic: number
}

export const moment = (): Moment => ({ wall: Date.now(), monotonic: performance.now() })
