import type { RateLimit } from './rate-policy.ts'

/** How many refusals at once show that the API takes less than the limits: this part of the quota, and at least two. */
const muchRefused = 1 / 5
const leastRefused = 2
/** By how much the pace changes: down where much is refused, down where a little is, and up again. */
const half = 0.5
const stepDown = 0.85
const stepUp = 1.1
/** After how many windows without a refusal the pace goes up, at first and at most. */
const firstPatience = 10
const mostPatience = 160
/** The slowest pace: one thousandth of the limits. */
const slowest = 0.001

/**
 * Decides which part of its limits an API gets, where it takes less than they allow: because the policy is wrong, or
 * because something else uses the quota.
 *
 * Where a burst is refused, the part is halved, or becomes what the API names. It comes back by a tenth after ten windows
 * without a refusal, up to what the API names; each refusal on the way back doubles that time.
 */
export class Pace {
  /** Of the limits, above 0 to 1. */
  part = 1
  #refusals = 0
  #patience = firstPatience
  /** When the API last refused a call, or said that nothing remains. */
  quietSince: number = Number.NEGATIVE_INFINITY

  /**
   * Notes a refusal; returns whether the part changes.
   *
   * @param isNew whether the call was sent after the refusal before.
   * @param named the limits that the API names.
   */
  refused(isNew: boolean, limits: readonly RateLimit[], named: readonly RateLimit[], now: number): boolean {
    const before = this.part
    this.#refusals = isNew ? 1 : this.#refusals + 1
    this.quietSince = now
    const most = Math.max(0, ...limits.map(({ quota }) => quota)) * this.part
    const byApi = partNamed(limits, named)
    if (byApi < this.part) this.part = byApi
    else if (byApi === Infinity && this.#refusals === Math.max(leastRefused, Math.ceil(most * muchRefused)))
      this.part = Math.max(slowest, this.part * half)
    else if (isNew && this.part < 1) {
      this.part = Math.max(slowest, this.part * stepDown)
      this.#patience = Math.min(mostPatience, this.#patience * 2)
    }
    return this.part !== before
  }

  /** Notes a response that is not a refusal; returns whether the part changes. */
  accepted(limits: readonly RateLimit[], named: readonly RateLimit[], now: number): boolean {
    const window = Math.max(0, ...limits.map((limit) => limit.window)) * this.#patience
    if (now < this.quietSince + window) return false
    this.quietSince = now
    this.part = Math.min(1, this.part * stepUp, partNamed(limits, named))
    if (this.part === 1) this.#patience = firstPatience
    return true
  }

  /** Returns the part of each limit; a part of less than one call becomes one call in a longer window. */
  of(limits: readonly RateLimit[]): readonly RateLimit[] {
    return limits.map(({ quota, window }) => {
      const calls = quota * this.part
      return calls >= 1 ? { quota: Math.floor(calls), window } : { quota: 1, window: window / calls }
    })
  }
}

/** Returns the part of the limits that the API names, `Infinity` if it names none of them. */
function partNamed(limits: readonly RateLimit[], named: readonly RateLimit[]): number {
  const parts = limits.flatMap(({ quota, window }) =>
    named.map((other) => (other.window === window ? other.quota / quota : Infinity)),
  )
  return Math.min(...parts)
}
