import { defined, type Emit } from '../events.ts'
import { refuse, shape } from '../options/check.ts'
import { backoff } from '../time/backoff.ts'
import { dateFromNow, finiteDuration } from '../time/finite-duration.ts'
import { createRateLimiter } from './memory-limiter.ts'
import { Pace } from './pace.ts'
import { type PauseReason, Pauses, type SentCall } from './pauses.ts'
import { PolicyWatch, type Slowed } from './policy-watch.ts'
import { readPause, readPolicy, readRemaining, type ResponseHead } from './rate-limit-headers.ts'
import type { LimitedApi, NotBefore, Permit, RateLimiter, RateLimiterFactory } from './rate-limiter.ts'
import type { CheckedPolicy, RateLimit } from './rate-policy.ts'

export interface LimitsOptions {
  /** The `baseUrl` of the API. */
  readonly api: string
  readonly policy: CheckedPolicy
  readonly emit: Emit
  /** `undefined`: the limits are kept in this process's memory. */
  readonly limiter: RateLimiterFactory | undefined
}

/** The unit of every limit that one call takes. */
export interface Unit extends SentCall {
  readonly permit: Permit
}

/** The limits in a snapshot. */
export interface LimitsStatus {
  /**
   * Used share of the fullest limit, 0 to 1, if the limiter knows it: as used by this process, or with a shared limiter
   * by all processes, as last reported.
   */
  readonly quotaUsed?: number
  /** How many calls the limits allow now, if the limiter knows. Lower if the API itself reports less. */
  readonly quotaLeft?: number
  /** Why this process keeps to its own share of the limits, if the shared budget failed: as in `limiter.failed`. */
  readonly limiterFailure?: string
  /** With `accounting: 'learned'`: within how many milliseconds after its send a call counts as arrived. */
  readonly arrivesWithin?: number
  /** Roughly what the API allows, if it refuses calls that the rate policy allows: the limits that are kept instead. */
  readonly allows?: readonly RateLimit[]
  /**
   * If slow responses and a strict policy leave waiting calls less than 70% of the quota: the `share` that they got
   * when calls last waited, and the `option` of the rate policy that gives more.
   */
  readonly slowed?: Slowed
  /** ISO 8601, while the API is paused: it refused a call because of its rate limit, or reported that no calls remain. */
  readonly pausedUntil?: string
}

/** The pause of an API that refuses calls and does not say for how long. */
const unaskedPause = { first: 1_000, most: 60_000 }

/** `accounting: 'learned'` learns from this many refusals within this many rounds of the quota. One more means wrong limits. */
const mostLessons = 2
const lessonRounds = 10

/**
 * Decides whether an API may be called now: its limiter keeps the rate policy, and it is paused after it refused a call
 * for its limit, or said that nothing remains.
 */
export class Limits {
  readonly #api: string
  readonly #emit: Emit
  /** What keeps the limits. */
  readonly limiter: RateLimiter
  readonly #pauses = new Pauses((ms) => this.#pause(ms, 'used-up', this.#reportedStatus))
  /** Why the shared budget fails, while it does. */
  failure: string | undefined
  #policy: CheckedPolicy
  #pace = new Pace()
  #watch: PolicyWatch
  /** How long the pause is by its event, in milliseconds. */
  #announced = 0
  /** Status of the last response that said what remains. */
  #reportedStatus = 0
  #sent = 0
  #refusedInRow = 0
  /** How many calls had been sent at the last refusal. */
  #refusedOrder = 0
  /** How many calls had been sent at each refusal of the last rounds. The start counts as one. */
  #refusals = [0]
  /** Whether the last refusal only made the limiter learn: then there is neither a trial call nor another pace. */
  #isLesson = false

  /** @param serve is called when calls may be sent earlier than was said. */
  constructor({ api, policy, emit, limiter }: LimitsOptions, serve: () => void) {
    this.#api = api
    this.#policy = policy
    this.#emit = emit
    this.#watch = new PolicyWatch(api, policy, emit)
    const limited: LimitedApi = {
      ...policy,
      baseUrl: api,
      unitsAvailable: serve,
      paused: (ms) => this.#pauses.begin(finiteDuration(ms, this.#policy.longestPause), 'refused'),
      resumed: () => {
        this.#pauses.end()
        serve()
      },
      failed: (reason) => {
        this.failure = reason
        emit({ type: 'limiter.failed', api, reason })
      },
      recovered: () => {
        this.failure = undefined
        emit({ type: 'limiter.recovered', api })
      },
    }
    this.limiter = limiterFor(limited, limiter)
  }

  /** When the pause ends or ended, on the monotonic clock. */
  get pausedUntil(): number {
    return this.#pauses.until
  }

  /** Returns for how many milliseconds the API is paused, 0 if it is not. A trial call under way counts as a pause. */
  pausedFor(now: number): number {
    return this.#pauses.wait(now)
  }

  /** Returns the unit of a call that is sent now, or when to ask again; `couldUse` calls could be sent, this one included. */
  take(now: number, couldUse: number): Unit | NotBefore {
    const permit = this.limiter.take(couldUse)
    if (typeof permit === 'number') {
      if (this.#pace.part === 1) this.#watch.waits(this.limiter.used?.() ?? 0, this.limiter.lag?.() ?? 0, now)
      // a shared limiter that returns NaN is asked again
      return permit > 0 ? permit : 0
    }
    this.#sent += 1
    const unit = { permit, order: this.#sent, sentAt: now }
    this.#pauses.sent(unit)
    return unit
  }

  /** Reads the response to a call, and returns whether the API refused the call for its limit. */
  answered(unit: Unit, response: ResponseHead): boolean {
    const { limits, limitedStatuses, rateLimitHeaders } = this.#policy
    const isRefused = limitedStatuses.includes(response.status)
    unit.permit.answered(isRefused)
    this.#pauses.ended(unit)
    const isRead = isRefused || this.#pace.part < 1 || this.#watch.isReporting
    const named = rateLimitHeaders && isRead ? readPolicy(response) : []
    if (isRefused) this.#refused(unit, response, named)
    else if (this.#pace.part < 1 && this.#pace.accepted(limits, named, performance.now())) this.#keepPace()
    if (!isRefused && response.status !== 401 && unit.order > this.#refusedOrder) this.#refusedInRow = 0
    if (rateLimitHeaders) this.#readRemaining(unit, response)
    this.#watch.answered(named)
    return isRefused
  }

  /** Takes back the unit of a call that ended, or that was never sent. */
  ended(unit: Unit, wasSent: boolean): void {
    if (wasSent) unit.permit.ended()
    else unit.permit.cancel()
    this.#pauses.ended(unit, wasSent)
  }

  /** Returns the milliseconds until the `ahead`-th call from now may be sent at the earliest. */
  forecast(ahead: number): number {
    return finiteDuration(this.limiter.forecast(ahead, 0, this.pausedUntil))
  }

  /** Returns about when the `ahead`-th call from now may be sent, in milliseconds from now. */
  estimate(ahead: number): number {
    return finiteDuration(this.limiter.forecast(ahead, this.limiter.lag?.() ?? 0, this.pausedUntil))
  }

  /** Lifts a pause that the API asked for, for every process that shares the limiter. */
  resume(): void {
    this.#pauses.end()
    this.limiter.resume?.()
  }

  /** @throws TokenlaneError `INVALID_OPTIONS` if the limiter cannot keep another policy. */
  setPolicy(policy: CheckedPolicy): void {
    if (this.limiter.setPolicy === undefined) refuse('limiter().setPolicy', 'missing', 'a function')
    this.limiter.setPolicy(policy)
    this.#policy = policy
    this.#pace = new Pace()
    this.#watch = new PolicyWatch(this.#api, policy, this.#emit)
  }

  status(): LimitsStatus {
    const pause = this.pausedUntil - performance.now()
    const quotaUsed = this.limiter.used?.()
    const quotaLeft = this.limiter.unitsLeft?.() ?? Infinity
    const learned = this.#policy.accounting === 'learned' ? this.limiter.arrivesWithin?.() : undefined
    return defined({
      limiterFailure: this.failure,
      allows: this.#allows,
      slowed: this.#watch.slowed,
      arrivesWithin: learned === undefined ? undefined : Math.round(learned),
      quotaUsed: quotaUsed === undefined ? undefined : Math.min(1, finiteDuration(quotaUsed)),
      quotaLeft: quotaLeft < Infinity ? Math.max(0, quotaLeft) : undefined,
      pausedUntil: pause > 0 ? dateFromNow(pause) : undefined,
    })
  }

  /** What the API takes, where that is less than the limits allow. */
  get #allows(): readonly RateLimit[] | undefined {
    const { limits } = this.#policy
    return this.#pace.part < 1 && limits.length > 0 ? this.#pace.of(limits) : undefined
  }

  /** Lets the limiter keep the part of the limits that the API takes. */
  #keepPace(): void {
    // the refusal is an event again, which names the pace
    if (this.#allows) this.#announced = 0
    this.limiter.setPolicy?.({ ...this.#policy, limits: this.#pace.of(this.#policy.limits) })
  }

  #refused(unit: Unit, response: ResponseHead, named: readonly RateLimit[]): void {
    const { limits, accounting, longestPause, rateLimitHeaders } = this.#policy
    // calls that were sent together are refused together: one refusal in a row, not ten
    const isNew = unit.order > this.#refusedOrder
    if (isNew) {
      const round = Math.max(0, ...limits.map(({ quota }) => quota))
      this.#refusals = this.#refusals.filter((order) => unit.order <= order + lessonRounds * round)
      const isRare = this.#refusals.length < mostLessons
      this.#isLesson = accounting === 'learned' && this.#pace.part === 1 && isRare
      this.#refusals.push(this.#sent)
      this.#refusedInRow += 1
      this.#refusedOrder = this.#sent
    }
    if (!this.#isLesson && this.#pace.refused(isNew, limits, named, performance.now())) this.#keepPace()
    const asked = readPause(response, rateLimitHeaders) ?? backoff(this.#refusedInRow, unaskedPause)
    const ms = Math.min(asked, longestPause)
    this.#pause(ms, 'refused', response.status, !this.#isLesson)
    this.limiter.pause?.(ms)
  }

  #readRemaining(unit: Unit, response: ResponseHead): void {
    const quota = readRemaining(response)
    if (quota === undefined) return
    this.#reportedStatus = response.status
    const { limits, longestPause } = this.#policy
    const longestWindow = limits.length === 0 ? longestPause : Math.max(...limits.map(({ window }) => window))
    const report = { ...quota, resetIn: Math.min(quota.resetIn, longestWindow, longestPause) }
    this.limiter.reported?.(report)
    this.#pauses.reported(report, unit.order, this.limiter)
  }

  #pause(ms: number, reason: PauseReason, status: number, isTried = true): void {
    // responses to calls that were under way together ask for one pause, and make one event
    const isNew = this.pausedUntil <= performance.now() || ms > this.#announced
    this.#pauses.begin(ms, reason, isTried)
    this.#pace.quietSince = performance.now()
    if (!isNew) return
    this.#announced = ms
    const differs = this.#allows && { allows: this.#allows, configured: this.#policy.limits }
    this.#emit({ type: 'api.paused', api: this.#api, for: ms, status, reason, ...differs })
  }
}

/** Returns the limiter that `create` makes, else one in this process's memory; `INVALID_OPTIONS` for what is none. */
export function limiterFor(api: LimitedApi, create: RateLimiterFactory | undefined): RateLimiter {
  if (create === undefined) return createRateLimiter(api)
  const limiter = create(api) as RateLimiter | undefined
  for (const name of ['take', 'forecast'] as const)
    if (typeof limiter?.[name] !== 'function')
      refuse(`limiter().${name}`, shape(limiter?.[name]), 'a function')
  return limiter as RateLimiter
}
