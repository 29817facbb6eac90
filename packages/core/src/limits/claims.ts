import { ApiClock } from './api-clock.ts'
import { type Demand, Demands } from './demand.ts'
import { Pace } from './pace.ts'
import { readDate, type ResponseHead } from './rate-limit-headers.ts'
import { type Claim, type FixedLimit, isSliding } from './rate-limiter.ts'
import type { CheckedPolicy } from './rate-policy.ts'

const mostClaims = 1_000
/** For how long at most the edges of a calendar's window are kept: clocks drift apart. In milliseconds. */
const clockHolds = 60_000

interface HeldClaim {
  readonly claim: Claim
  readonly until: number
  readonly trial: FixedLimit | undefined
}

/** Which limits hold now for a call: those of the policy, at the pace that the API takes, by its clock. */
export class Claims {
  readonly #api: string
  readonly #isUnused: (demand: Demand) => boolean
  readonly #clock = new ApiClock()
  policy!: CheckedPolicy
  pace!: Pace
  demands!: Demands
  readonly #held = new Map<string, HeldClaim>()

  /** @param isUnused whether no unit of these limits is in use. */
  constructor(api: string, isUnused: (demand: Demand) => boolean) {
    this.#api = api
    this.#isUnused = isUnused
  }

  setPolicy(policy: CheckedPolicy): void {
    this.policy = policy
    this.pace = new Pace(policy.limits)
    this.demands = new Demands(policy.limits, this.#api, this.#isUnused)
    this.forget()
  }

  forget(): void {
    this.#held.clear()
  }

  /** Corrects what is known of the API's clock; claims that hold until an edge are made again. */
  readClock(response: ResponseHead, sentAt: number, now: number): void {
    const date = readDate(response)
    if (date === undefined) return
    this.#clock.heard(date, sentAt, now)
    this.forget()
  }

  /** Returns the claim of a call that is sent now; with `trial`, as the trial after a pause. */
  of(demand: Demand, now: number, trial?: FixedLimit): Claim {
    const key = trial === undefined ? demand.key : `trial ${demand.key}`
    const held = this.#held.get(key)
    if (held !== undefined && now < held.until && held.trial === trial) return held.claim
    const { spread, accounting, unansweredGrace } = this.policy
    const { cost } = demand
    const limits = this.pace.inForce(demand, this.#clock, now)
    const interval = spread
      ? Math.max(0, ...this.pace.kept.map(({ quota, window }) => (window / quota) * cost))
      : 0
    const until = Math.min(
      ...limits.map((limit) => (isSliding(limit) ? Infinity : Math.min(limit.until, now + clockHolds))),
    )
    if (trial !== undefined) limits.push(trial)
    const claim = { key, cost, limits, interval, accounting, unansweredGrace }
    if (this.#held.size >= mostClaims) this.forget()
    this.#held.set(key, { claim, until, trial })
    return claim
  }
}
