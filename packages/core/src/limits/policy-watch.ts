import type { Emit } from '../events.ts'
import { defaultGrace } from './arrivals.ts'
import { type CheckedPolicy, lengthOf, type Limit, type RateLimit } from './rate-policy.ts'

/** What slow responses leave of a quota, and what gives more of it. */
export interface Slowed {
  readonly share: number
  readonly option: string
}

/** The most events for headers that differ from call to call. */
const mostReported = 16
/** An API is slowed if calls wait for `slowRounds` rounds of its units and get less of the quota than `leastShare`. */
const leastShare = 0.7
const slowRounds = 10
/** The part of its units that is in use at least, while calls wait for them. */
const fullUse = 0.9

/**
 * Reports where a policy does not fit its API: each other policy that the headers name, once, and that slow responses
 * leave waiting calls little of the quota.
 */
export class PolicyWatch {
  readonly #api: string
  readonly #policy: CheckedPolicy
  readonly #reported = new Set<string>()
  slowed: Slowed | undefined
  isReporting = true
  #lowSince = 0
  #waitedAt = Number.NEGATIVE_INFINITY
  #isSaid = false

  constructor(api: string, policy: CheckedPolicy) {
    this.#api = api
    this.#policy = policy
  }

  compare(seen: readonly RateLimit[], emit: Emit): void {
    const configured = this.#policy.limits
    const differing = seen.filter(
      ({ quota, window }) =>
        !configured.some((own) => own.quota === quota && lengthOf(own.window) === window),
    )
    const key = JSON.stringify(differing)
    if (differing.length === 0 || this.#reported.has(key)) return
    this.#reported.add(key)
    this.isReporting = this.#reported.size < mostReported
    emit({ type: 'policy.differs', api: this.#api, configured, seen })
  }

  /** Called while calls wait for a unit. `used`: the share in use. `lag`: how late units are freed, in milliseconds. */
  waits(used: number, lag: number, now: number, emit: Emit): void {
    const { limits: all, accounting, unansweredGrace = defaultGrace } = this.#policy
    // a window of the calendar ends for all of its units at once
    const limits = all.filter((limit): limit is Limit & RateLimit => typeof limit.window === 'number')
    if (limits.length === 0) return
    if (accounting !== 'strict' || lag === 0 || used < fullUse) return
    const share = shareOf(limits, lag)
    const round = Math.min(...limits.map(({ window }) => window)) + lag
    const wasIdle = now > this.#waitedAt + 2 * round
    this.#waitedAt = now
    if (share >= leastShare) this.slowed = undefined
    if (share >= leastShare || wasIdle) this.#lowSince = now
    if (now < this.#lowSince + slowRounds * round) return
    const byDefault = unansweredGrace > defaultGrace && shareOf(limits, defaultGrace) >= leastShare
    const option = byDefault ? `unansweredGrace: ${defaultGrace}` : "accounting: 'learned'"
    this.slowed = { share: Math.round(share * 100) / 100, option }
    if (!this.#isSaid) emit({ type: 'api.slowed', api: this.#api, ...this.slowed })
    this.#isSaid = true
  }
}

/** Returns which part of the slowest limit calls get: a unit is used once in a window and `lag`. */
function shareOf(limits: readonly RateLimit[], lag: number): number {
  const pace = (late: number): number =>
    Math.min(...limits.map(({ quota, window }) => quota / (window + late)))
  return pace(lag) / pace(0)
}
