import { defaultGrace } from './arrivals.ts'
import type { CheckedPolicy, RateLimit } from './rate-policy.ts'

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
/** An API is slowed that gets less of its quota than this, while calls wait for this many rounds of its units. */
const leastShare = 0.7
const slowRounds = 10
/** The part of its units that is in use at least, while calls wait for them. */
const fullUse = 0.9

/**
 * Decides which part of its limits an API gets, where it takes less than they allow: because the policy is wrong, or
 * because something else uses the quota.
 *
 * Where a burst is refused, the part is halved, or becomes what the API names. It comes back by a tenth after ten windows
 * without a refusal; each refusal on the way back doubles that time.
 */
export class Pace {
  /** Of the limits, above 0 to 1. */
  part = 1
  #refusals = 0
  #patience = firstPatience
  #quietSince = Number.NEGATIVE_INFINITY

  /**
   * Notes a refusal; returns whether the part changes.
   *
   * @param isNew whether the call was sent after the refusal before.
   * @param named the limits that the API names.
   */
  refused(isNew: boolean, limits: readonly RateLimit[], named: readonly RateLimit[], now: number): boolean {
    const before = this.part
    this.#refusals = isNew ? 1 : this.#refusals + 1
    this.#quietSince = now
    const most = Math.max(0, ...limits.map(({ quota }) => quota)) * this.part
    const byApi = partNamed(limits, named)
    if (byApi < this.part) this.part = byApi
    else if (this.#refusals === Math.max(leastRefused, Math.ceil(most * muchRefused)))
      this.part = Math.max(slowest, this.part * half)
    else if (isNew && this.part < 1) {
      this.part = Math.max(slowest, this.part * stepDown)
      this.#patience = Math.min(mostPatience, this.#patience * 2)
    }
    return this.part !== before
  }

  /** Notes a response that is not a refusal; returns whether the part changes. */
  accepted(limits: readonly RateLimit[], now: number): boolean {
    if (this.part === 1) return false
    const window = Math.max(0, ...limits.map((limit) => limit.window)) * this.#patience
    if (now < this.#quietSince + window) return false
    this.#quietSince = now
    this.part = Math.min(1, this.part * stepUp)
    if (this.part === 1) this.#patience = firstPatience
    return true
  }

  /** Returns the part of each limit; a part of less than one call becomes one call in a longer window. */
  of(limits: readonly RateLimit[]): readonly RateLimit[] {
    if (this.part === 1) return limits
    return limits.map(({ quota, window }) => {
      const calls = quota * this.part
      return calls >= 1 ? { quota: Math.floor(calls), window } : { quota: 1, window: window / calls }
    })
  }

  reset(): void {
    this.part = 1
    this.#patience = firstPatience
  }
}

function partNamed(limits: readonly RateLimit[], named: readonly RateLimit[]): number {
  let part = 1
  for (const { quota, window } of limits)
    for (const other of named) if (other.window === window) part = Math.min(part, other.quota / quota)
  return part
}

/** What slow responses leave of a quota, and what gives more of it. */
export interface Slowed {
  readonly share: number
  readonly option: string
}

/**
 * Finds out where a strict policy holds an API far below its quota, because its responses are slow.
 *
 * A unit that is used without a break comes free one window and `lag` after its send: so calls get
 * `quota / (window + lag)`.
 */
export class SlowWatch {
  /** As it was when calls waited last. */
  slowed: Slowed | undefined
  #since = 0
  #waitedAt = Number.NEGATIVE_INFINITY
  #isSaid = false

  /** Notes that calls wait, with this part of the units in use; returns whether that is to be said, once for each policy. */
  waits(
    { limits, accounting, unansweredGrace = defaultGrace }: CheckedPolicy,
    lag: number,
    used: number,
    now: number,
  ): boolean {
    if (accounting !== 'strict' || used < fullUse) return false
    const share = shareOf(limits, lag)
    const round = Math.min(...limits.map(({ window }) => window)) + lag
    const isLow = share < leastShare
    if (!isLow || now > this.#waitedAt + 2 * round) this.#since = now
    this.#waitedAt = now
    if (!isLow) this.slowed = undefined
    if (!isLow || now < this.#since + slowRounds * round) return false
    const byDefault = unansweredGrace > defaultGrace && shareOf(limits, defaultGrace) >= leastShare
    const option = byDefault ? `unansweredGrace: ${defaultGrace}` : "accounting: 'learned'"
    this.slowed = { share: Math.round(share * 100) / 100, option }
    const isNew = !this.#isSaid
    this.#isSaid = true
    return isNew
  }
}

/** Returns which part of the slowest limit calls get, if each unit comes free `lag` milliseconds late. */
function shareOf(limits: readonly RateLimit[], lag: number): number {
  const pace = (late: number): number =>
    Math.min(...limits.map(({ quota, window }) => quota / (window + late)))
  return pace(lag) / pace(0)
}
