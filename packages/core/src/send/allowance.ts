/** So many times at once, and once more each `interval` milliseconds, on the monotonic clock. */
export class Allowance {
  readonly #most: number
  readonly #interval: number
  /** When all of it is there again. */
  #fullAt = Number.NEGATIVE_INFINITY

  constructor(most: number, interval: number) {
    this.#most = most
    this.#interval = interval
  }

  /** Whether there is one left, which is taken. */
  take(): boolean {
    const fullAt = Math.max(this.#fullAt, performance.now()) + this.#interval
    if (fullAt > performance.now() + this.#most * this.#interval) return false
    this.#fullAt = fullAt
    return true
  }
}
