import type { RemainingQuota } from './rate-limit-headers.ts'

/** APIs write whole seconds, so a reset may come that much earlier, in milliseconds. */
const rounding = 1_000

/**
 * How many more calls an API accepts until its reset, by its last response.
 *
 * An API that keeps the configured policy and has no other client never accepts fewer calls than the limiter allows. Such
 * reports are ignored: whole-second resets are coarser than the limiter's own clock.
 */
export class Reported {
  /** How many; `Infinity` where it says nothing that the limiter does not know. */
  remaining: number = Infinity
  #resetAt = Number.NEGATIVE_INFINITY
  /** Order of the call whose response counted last. */
  #reporter = 0

  /**
   * Reads what the response to call number `order` says, when `sent` calls had been sent. The API counted that call before
   * those that were sent after it.
   *
   * @param left how many calls the limiter allows now, if it knows. @param nextIn when it allows the next one.
   */
  read(
    { remaining, resetIn }: RemainingQuota,
    { order, sent, now }: { readonly order: number; readonly sent: number; readonly now: number },
    left: number,
    nextIn: number,
  ): { readonly remain: boolean; readonly usedUp: number } | undefined {
    // older than a response before
    if (order < this.#reporter) return undefined
    this.#reporter = order
    const remain = remaining - (sent - order)
    this.remaining = left > remain || resetIn > nextIn + rounding ? remain : Infinity
    this.#resetAt = now + resetIn
    return { remain: remain > 0, usedUp: this.usedUp(now) }
  }

  forget(): void {
    this.remaining = Infinity
  }

  /** Returns for how many milliseconds the API accepts no further call, else 0. */
  usedUp(now: number): number {
    if (this.remaining > 0) return 0
    this.remaining = Infinity
    return Math.max(0, Math.ceil(this.#resetAt - now))
  }
}
