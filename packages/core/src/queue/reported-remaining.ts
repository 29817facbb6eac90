import type { RemainingQuota } from './rate-limit-headers.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** APIs write whole seconds, so a reset may come that much earlier, in milliseconds. */
const rounding = 1_000

/**
 * Counts down how many more calls an API takes until its reset, from what its last response said.
 *
 * An API that keeps the configured policy and has no other client never takes fewer calls than the limiter. What it
 * says is then left aside: its reset in whole seconds would only slow down a limiter that knows the milliseconds.
 */
export class ReportedRemaining {
  #left = Infinity
  #resetAt = Number.NEGATIVE_INFINITY
  /** Order of the call whose response was the last that counted. */
  #reporter = 0

  /**
   * Takes what the response to a call says. The API counted the call before those that were sent after it.
   *
   * @returns whether the API takes a call now; `undefined` for a response that is older than one before.
   */
  take(
    { remaining, resetIn }: RemainingQuota,
    order: number,
    sent: number,
    limiter: RateLimiter,
  ): boolean | undefined {
    if (order < this.#reporter) return undefined
    this.#reporter = order
    const left = remaining - (sent - order)
    // a shared limiter compares with what all processes sent
    const known = limiter.reported === undefined ? limiter.unitsLeft?.() : undefined
    const fewer = known !== undefined && known > left
    const later = resetIn > limiter.forecast(1, 0) + rounding
    this.#left = fewer || later ? left : Infinity
    this.#resetAt = performance.now() + resetIn
    return left > 0
  }

  /** Notes that a call goes out. */
  sent(): void {
    this.#left -= 1
  }

  /** Milliseconds until the reset if the API takes no call before it, otherwise 0. */
  get usedUpFor(): number {
    return this.#left > 0 ? 0 : Math.max(0, this.#resetAt - performance.now())
  }

  /** Leaves aside what was said. */
  clear(): void {
    this.#left = Infinity
  }
}
