import type { Emit } from '../events.ts'
import { refuse } from '../options/check.ts'
import { backoff } from '../time/backoff.ts'
import { dateFromNow, finiteDuration } from '../time/finite-duration.ts'
import { limiterFor, type RateLimiterFactory } from './limiter-factory.ts'
import { readPause, readPolicy, readRemaining, type ResponseHead } from './rate-limit-headers.ts'
import { Pace, type Slowed, SlowWatch } from './pace.ts'
import type { NotBefore, Permit, RateLimiter } from './rate-limiter.ts'
import type { CheckedPolicy, RateLimit } from './rate-policy.ts'
import { PolicyWatch, ReportedRemaining } from './reported-limits.ts'
import { type SentCall, TrialCall } from './trial-call.ts'

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
  readonly quotaUsed?: number
  readonly quotaLeft?: number
  /** Within how many milliseconds after its send a call counts as arrived: as learned. */
  readonly arrivesWithin?: number
  /** About what the API takes, where it refuses what the policy allows. */
  readonly allows?: readonly RateLimit[]
  /** What slow responses leave of the quota, where that is little. */
  readonly slowed?: Slowed
  readonly pausedUntil?: string
}

/** The pause of an API that refuses calls and does not say for how long. */
const pauseAfter = backoff({ first: 1_000, most: 60_000, jitter: 'none' })

/** A refusal after this many rounds of the quota without one is what `accounting: 'learned'` learns from. */
const quietRounds = 10

/**
 * Decides whether an API may be called now: its limiter keeps the rate policy, and it is paused after it refused a call
 * for its limit, or said that nothing remains.
 */
export class Limits {
  readonly #api: string
  readonly #emit: Emit
  readonly #limiter: RateLimiter
  readonly #trial = new TrialCall()
  readonly #pace = new Pace()
  readonly #remaining = new ReportedRemaining()
  readonly #watch: PolicyWatch
  #slow = new SlowWatch()
  #policy: CheckedPolicy
  #sent = 0
  #pausedUntil = Number.NEGATIVE_INFINITY
  #reason: 'refused' | 'used-up' = 'refused'
  /** How long the pause is by its event, in milliseconds. */
  #announced = 0
  /** Status of the last response that said what remains. */
  #reportedStatus = 0
  #refusedInRow = 0
  #refusedAt = Number.NEGATIVE_INFINITY
  /** How many calls had been sent at the last refusal. */
  #refusedOrder = 0
  /** Whether the last refusal only made the limiter learn: then there is neither a trial call nor another pace. */
  #isLesson = false

  /** @param serve is called when calls may be sent earlier than was said. */
  constructor({ api, policy, emit, limiter }: LimitsOptions, serve: () => void) {
    const { limits, spread, accounting, unansweredGrace } = policy
    this.#api = api
    this.#policy = policy
    this.#emit = emit
    this.#watch = new PolicyWatch(api, emit)
    const limited = {
      baseUrl: api,
      limits,
      spread,
      accounting,
      unansweredGrace,
      unitsAvailable: serve,
      paused: (ms: number) => {
        this.#reason = 'refused'
        this.#pauseFor(finiteDuration(ms, this.#policy.longestPause))
      },
      resumed: () => {
        this.#endPause()
        serve()
      },
      failed: (reason: string) => emit?.({ type: 'limiter.failed', api, reason }),
      recovered: () => emit?.({ type: 'limiter.recovered', api }),
    }
    this.#limiter = limiterFor(limited, limiter)
  }

  /** When the pause ends or ended, on the monotonic clock. */
  get pausedUntil(): number {
    return this.#pausedUntil
  }

  /** Returns for how many milliseconds the API is paused, 0 if it is not. A trial call under way counts as a pause. */
  pausedFor(now: number): number {
    return this.#pausedUntil > now ? this.#pausedUntil - now : this.#trial.wait(now)
  }

  /**
   * Returns the unit of a call that is sent now, or when to ask again.
   *
   * @param couldUse how many calls could be sent now, this one included.
   */
  take(now: number, couldUse: number): Unit | NotBefore {
    const permit = this.#limiter.take(couldUse)
    if (typeof permit === 'number') {
      this.#watchShare(now)
      // a shared limiter that returns NaN is asked again
      return permit > 0 ? permit : 0
    }
    this.#sent += 1
    const unit = { permit, order: this.#sent, sentAt: now }
    this.#trial.sent(unit)
    this.#remaining.sent()
    this.#pauseIfUsedUp()
    return unit
  }

  /** Reads the response to a call, and returns whether the API refused the call for its limit. */
  answered(unit: Unit, response: ResponseHead): boolean {
    const isRefused = this.#policy.limitedStatuses.includes(response.status)
    unit.permit.answered(isRefused)
    this.#trial.ended(unit)
    if (isRefused) this.#refused(unit, response)
    else if (this.#pace.accepted(this.#policy.limits, performance.now())) this.#keepPace()
    if (!isRefused && response.status !== 401 && unit.sentAt > this.#refusedAt) this.#refusedInRow = 0
    if (this.#policy.rateLimitHeaders) {
      this.#readRemaining(unit, response)
      this.#watch.read(response, this.#policy.limits)
    }
    return isRefused
  }

  /** Takes back the unit of a call that ended, or that was never sent. */
  ended(unit: Unit, wasSent: boolean): void {
    if (wasSent) unit.permit.ended()
    else unit.permit.cancel()
    this.#trial.ended(unit, wasSent)
  }

  /** Returns the milliseconds until the `ahead`-th call from now may be sent at the earliest. */
  forecast(ahead: number): number {
    return finiteDuration(this.#limiter.forecast(ahead, 0, this.#pausedUntil))
  }

  /** Returns about when the `ahead`-th call from now may be sent, in milliseconds from now. */
  estimate(ahead: number): number {
    return finiteDuration(this.#limiter.forecast(ahead, this.#limiter.lag?.() ?? 0, this.#pausedUntil))
  }

  /** Lifts a pause that the API asked for, for every process that shares the limiter. */
  resume(): void {
    this.#endPause()
    this.#limiter.resume?.()
  }

  /** @throws TokenlaneError `INVALID_OPTIONS` if the limiter cannot keep another policy. */
  setPolicy(policy: CheckedPolicy): void {
    if (this.#limiter.setPolicy === undefined)
      refuse('limiter().setPolicy', 'missing', 'a function, where a rate policy is changed at run time')
    this.#pace.reset()
    this.#limiter.setPolicy(policy)
    this.#policy = policy
    this.#slow = new SlowWatch()
    this.#watch.clear()
  }

  /** Notes that the last queued calls gave up. */
  noWaiters(): void {
    this.#limiter.noWaiters?.()
  }

  /** Ends the limiter, after the last call. */
  async close(): Promise<void> {
    await this.#limiter.close?.()
  }

  status(): LimitsStatus {
    const pause = this.#pausedUntil - performance.now()
    const quotaUsed = this.#limiter.used?.()
    const quotaLeft = this.#limiter.unitsLeft?.()
    const learned = this.#policy.accounting === 'learned' ? this.#limiter.arrivesWithin?.() : undefined
    const allows = this.#allows
    const { slowed } = this.#slow
    return {
      ...(allows !== undefined && { allows }),
      ...(slowed !== undefined && { slowed }),
      ...(learned !== undefined && { arrivesWithin: Math.round(learned) }),
      ...(quotaUsed !== undefined && { quotaUsed: Math.min(1, finiteDuration(quotaUsed)) }),
      ...(quotaLeft !== undefined && quotaLeft < Infinity && { quotaLeft: Math.max(0, quotaLeft) }),
      ...(pause > 0 && { pausedUntil: dateFromNow(pause) }),
    }
  }

  #refused(unit: Unit, response: ResponseHead): void {
    // calls that were sent together are refused together: one refusal in a row, not ten
    const isNew = unit.sentAt > this.#refusedAt
    const named = this.#policy.rateLimitHeaders ? readPolicy(response) : []
    if (isNew) {
      this.#refusedInRow += 1
      this.#refusedAt = performance.now()
      this.#isLesson = this.#isQuietBefore(unit)
      this.#refusedOrder = this.#sent
    }
    if (!this.#isLesson && this.#pace.refused(isNew, this.#policy.limits, named, performance.now()))
      this.#keepPace()
    const asked = readPause(response, this.#policy) ?? pauseAfter(this.#refusedInRow)
    const ms = Math.min(asked, this.#policy.longestPause)
    this.#pause(ms, 'refused', response.status, !this.#isLesson)
    this.#limiter.pause?.(ms)
  }

  /** Whether refusals are learned from, and none came for so long that the limits cannot be wrong. */
  #isQuietBefore({ order }: Unit): boolean {
    const { accounting, limits } = this.#policy
    const calls = Math.max(0, ...limits.map(({ quota }) => quota)) * quietRounds
    return accounting === 'learned' && order > this.#refusedOrder + calls
  }

  /** Lets the limiter keep the part of the limits that the API takes. */
  #keepPace(): void {
    this.#limiter.setPolicy?.({ ...this.#policy, limits: this.#pace.of(this.#policy.limits) })
  }

  /** What the API takes, where that is less than the limits allow. */
  get #allows(): readonly RateLimit[] | undefined {
    return this.#pace.part < 1 ? this.#pace.of(this.#policy.limits) : undefined
  }

  /** Reports once where slow responses leave little of the quota to the calls that wait for it. */
  #watchShare(now: number): void {
    const lag = this.#limiter.lag?.() ?? 0
    if (lag === 0 || this.#pace.part < 1) return
    const isNew = this.#slow.waits(this.#policy, lag, this.#limiter.used?.() ?? 0, now)
    const { slowed } = this.#slow
    if (isNew && slowed !== undefined) this.#emit?.({ type: 'api.slowed', api: this.#api, ...slowed })
  }

  #readRemaining(unit: Unit, response: ResponseHead): void {
    const quota = readRemaining(response)
    if (quota === undefined) return
    this.#reportedStatus = response.status
    const { limits, longestPause } = this.#policy
    const longestWindow = limits.length === 0 ? longestPause : Math.max(...limits.map(({ window }) => window))
    const report = { ...quota, resetIn: Math.min(quota.resetIn, longestWindow, longestPause) }
    this.#limiter.reported?.(report)
    const someRemain = this.#remaining.read(report, unit.order, this.#sent, this.#limiter)
    if (someRemain && this.#reason === 'used-up') this.#pausedUntil = Number.NEGATIVE_INFINITY
    this.#pauseIfUsedUp()
  }

  #pauseIfUsedUp(): void {
    const ms = this.#remaining.usedUpFor
    if (ms === 0) return
    this.#remaining.clear()
    this.#pause(ms, 'used-up', this.#reportedStatus)
  }

  #pause(ms: number, reason: 'refused' | 'used-up', status: number, isTried = true): void {
    // responses to calls that were under way together ask for one pause, and make one event
    const isNew = this.#pausedUntil <= performance.now() || ms > this.#announced
    this.#pauseFor(ms, isTried)
    // a refusal is not taken back by a response that says that calls remain
    if (isNew || reason === 'refused') this.#reason = reason
    if (!isNew) return
    this.#announced = ms
    const allows = reason === 'refused' ? this.#allows : undefined
    const differs = allows && { allows, configured: this.#policy.limits }
    this.#emit?.({ type: 'api.paused', api: this.#api, for: ms, status, reason, ...differs })
  }

  #pauseFor(ms: number, isTried = true): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms)
    if (isTried) this.#trial.begin()
  }

  #endPause(): void {
    this.#pausedUntil = Number.NEGATIVE_INFINITY
    this.#trial.cancel()
    this.#remaining.clear()
  }
}
