import type { Emit } from '../events.ts'
import { finiteDuration } from '../time/finite-duration.ts'
import { LimitBackoff } from './limit-backoff.ts'
import { readPause, readRemaining, readRetryAfter, type ResponseHead } from './rate-limit-headers.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { CheckedPolicy } from './rate-policy.ts'
import { ReportedRemaining } from './reported-remaining.ts'

/** What pauses need of a call that was sent. */
export interface SentCall {
  /** 1 for the first call of the API, 2 for the next. */
  readonly order: number
  /** On the monotonic clock. */
  readonly takenAt: number
}

/** How long other calls wait for the response to the one that tries after a pause, in milliseconds. */
const longestTry = 5_000

/**
 * Decides when an API gets no calls although the rate policy would allow them: after it refused one for its limit, and
 * while it says that nothing remains. After a pause one call tries; the others follow when its response has arrived.
 */
export class ApiPauses {
  readonly #api: string
  readonly #limiter: RateLimiter
  readonly #emit: Emit
  readonly #backoff = new LimitBackoff()
  readonly #remaining = new ReportedRemaining()
  #policy: CheckedPolicy
  #until = Number.NEGATIVE_INFINITY
  #reason: 'refused' | 'used-up' = 'refused'
  /** What the event of this pause said, in milliseconds. */
  #announced = 0
  /** Of the last response that said what remains. */
  #status = 0
  #sent = 0
  #oneTries = false
  #trying: SentCall | undefined

  constructor(api: string, policy: CheckedPolicy, limiter: RateLimiter, emit: Emit) {
    this.#api = api
    this.#policy = policy
    this.#limiter = limiter
    this.#emit = emit
  }

  set policy(policy: CheckedPolicy) {
    this.#policy = policy
  }

  /** When the pause ends or ended, on the monotonic clock. */
  get until(): number {
    return this.#until
  }

  /** The order of the call that goes next. */
  get nextOrder(): number {
    return this.#sent + 1
  }

  /** Returns for how many milliseconds no call may go, 0 if one may. */
  wait(now: number): number {
    if (this.#until > now) return this.#until - now
    return this.#trying === undefined ? 0 : Math.max(0, this.#trying.takenAt + longestTry - now)
  }

  /** Notes that a call goes out. */
  sent(call: SentCall): void {
    this.#sent += 1
    this.#trying = this.#oneTries ? call : undefined
    this.#oneTries = false
    this.#remaining.sent()
    this.#holdIfUsedUp()
  }

  /** Pauses the API if the response refused the call for the API's limit, and returns whether it did. */
  answered(call: SentCall, response: ResponseHead): boolean {
    this.left(call)
    const refused = this.#policy.limitedStatuses.includes(response.status)
    if (refused) this.#refused(call, response)
    else if (response.status !== 401) this.#backoff.kept(call.takenAt)
    return refused
  }

  /** Pauses the API if the response says that nothing remains, and returns whether it says what does. */
  readRemaining(call: SentCall, response: ResponseHead): boolean {
    const quota = readRemaining(response)
    if (quota === undefined) return false
    this.#status = response.status
    const { limits, longestPause } = this.#policy
    const longestWindow = limits.length === 0 ? longestPause : Math.max(...limits.map(({ window }) => window))
    const report = { ...quota, resetIn: Math.min(quota.resetIn, longestWindow, longestPause) }
    this.#limiter.reported?.(report)
    const someRemain = this.#remaining.take(report, call.order, this.#sent, this.#limiter)
    if (someRemain && this.#reason === 'used-up') this.#until = Number.NEGATIVE_INFINITY
    this.#holdIfUsedUp()
    return true
  }

  /** Notes that a call ended, with a response or without, or was never sent: then another one tries. */
  left(call: SentCall, wasSent = true): void {
    if (this.#trying !== call) return
    this.#trying = undefined
    this.#oneTries = !wasSent
  }

  /** Lets no call go for `ms` milliseconds, because another process was asked to pause. */
  pauseFor(ms: number): void {
    this.#extend(finiteDuration(ms, this.#policy.longestPause))
    this.#reason = 'refused'
  }

  /** Lifts the pause, for every process that shares the limiter. */
  resume(): void {
    this.resumed()
    this.#limiter.resume?.()
  }

  /** Notes that the pause was lifted. */
  resumed(): void {
    this.#until = Number.NEGATIVE_INFINITY
    this.#oneTries = false
    this.#trying = undefined
    this.#remaining.clear()
  }

  #refused(call: SentCall, response: ResponseHead): void {
    const byBackoff = this.#backoff.after(call.takenAt)
    const { longestPause, rateLimitHeaders } = this.#policy
    const asked = rateLimitHeaders ? readPause(response) : readRetryAfter(response)
    const ms = finiteDuration(asked ?? byBackoff, longestPause)
    this.#pause(ms, 'refused', response.status)
    this.#limiter.pause?.(ms)
  }

  #holdIfUsedUp(): void {
    const ms = this.#remaining.usedUpFor
    if (ms === 0) return
    this.#remaining.clear()
    this.#pause(ms, 'used-up', this.#status)
  }

  #pause(ms: number, reason: 'refused' | 'used-up', status: number): void {
    // responses to calls that were under way together ask for one pause, and make one event
    const isNew = this.#until <= performance.now() || ms > this.#announced
    this.#extend(ms)
    // a refusal is not taken back by a response that says that calls remain
    if (isNew || reason === 'refused') this.#reason = reason
    if (!isNew) return
    this.#announced = ms
    this.#emit?.({ type: 'api.paused', api: this.#api, for: ms, status, reason })
  }

  #extend(ms: number): void {
    this.#until = Math.max(this.#until, performance.now() + ms)
    this.#oneTries = true
    this.#trying = undefined
  }
}
