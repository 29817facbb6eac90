import type { CallWaits } from '../events.ts'
import { refuse } from '../options/check.ts'
import { dateFromNow, finiteDuration } from '../time/finite-duration.ts'
import type { AccessToken } from '../token/access-token.ts'
import type { CurrentToken } from '../token/renewing-token.ts'
import type { Backlog } from './admission.ts'
import { ApiPauses } from './api-pauses.ts'
import { limiterFor, type LimiterChoice } from './limiter-factory.ts'
import { Progress } from './progress.ts'
import type { Turn } from './queued-calls.ts'
import type { ResponseHead } from './rate-limit-headers.ts'
import type { NotBefore, RateLimiter } from './rate-limiter.ts'
import type { CheckedPolicy } from './rate-policy.ts'
import { ReportedLimits } from './reported-limits.ts'

/** What a call waits for before it gets a turn: a live token, or n milliseconds. */
export type NotYet = 'token' | NotBefore

/** What the queue of one API is made for. */
export interface QueueOptions extends LimiterChoice {
  readonly token: CurrentToken
}

/** Decides whether the next call of an API may go, by slots, pauses, a live token and the limits; not which call that is. */
export class Turns {
  readonly #token: CurrentToken
  readonly #limiter: RateLimiter
  readonly #pauses: ApiPauses
  readonly #reported: ReportedLimits
  readonly #progress = new Progress()
  #policy: CheckedPolicy
  #running = 0

  /** @param serve is called when there may be a turn again, though no call has left. */
  constructor(options: QueueOptions, serve: () => void) {
    const { api, policy, token, emit } = options
    this.#policy = policy
    this.#token = token
    this.#limiter = limiterFor(options, {
      unitsAvailable: serve,
      paused: (ms) => this.#pauses.pauseFor(ms),
      resumed: () => {
        this.#pauses.resumed()
        serve()
      },
    })
    this.#pauses = new ApiPauses(api, policy, this.#limiter, emit)
    this.#reported = new ReportedLimits(api, policy, this.#pauses, emit)
  }

  /**
   * Returns a turn, or why there is none yet.
   *
   * @param queued how many calls wait.
   * @param waitedFor the token that a renewal just returned; it is used even if it is past its floor, because no better
   * one exists.
   */
  take(queued: number, waitedFor?: AccessToken): Turn | NotYet {
    if (this.#running >= this.#policy.concurrency) return Infinity
    const now = performance.now()
    const pause = this.#pauses.wait(now)
    if (pause > 0) return pause
    const token = this.#token.live() ?? waitedFor
    if (token === undefined) return 'token'
    // how many calls could go if there were units, the one that just came included
    const couldUse = Math.max(1, Math.min(queued, this.#policy.concurrency - this.#running))
    const permit = this.#limiter.take(couldUse)
    // a shared limiter that answers NaN is asked again
    if (typeof permit === 'number') return permit > 0 ? permit : 0
    this.#running += 1
    const turn = { token, permit, takenAt: now, order: this.#pauses.nextOrder }
    this.#pauses.sent(turn)
    return turn
  }

  /** Takes the response to a call, and returns whether the API refused the call for its limit. */
  answered(turn: Turn, response: ResponseHead): boolean {
    turn.permit.answered()
    this.#progress.answered(turn.takenAt)
    const isRefused = this.#pauses.answered(turn, response)
    this.#reported.answered(turn, response, isRefused)
    return isRefused
  }

  /** Takes the slot back, and the unit too if nothing was sent. */
  leave(turn: Turn, sent: boolean): void {
    if (sent) turn.permit.ended()
    else turn.permit.cancel()
    this.#progress.left(turn.takenAt)
    this.#pauses.left(turn, sent)
    this.#running -= 1
  }

  /** Lifts a pause that the API asked for, for every process that shares the limiter. */
  resume(): void {
    this.#pauses.resume()
  }

  /** @throws TokenlaneError `INVALID_OPTIONS` if the shared limiter cannot keep another policy. */
  setPolicy(policy: CheckedPolicy): void {
    if (this.#limiter.setPolicy === undefined)
      refuse('limiter().setPolicy', 'missing', 'a function, where a rate policy is changed at run time')
    this.#limiter.setPolicy(policy)
    this.#policy = policy
    this.#pauses.policy = policy
    this.#reported.policy = policy
  }

  /** Notes that no call waits any more, because the last ones gave up. */
  noneWaits(): void {
    this.#limiter.noWaiters?.()
  }

  /** Ends what the limiter holds, after the last call. */
  async ended(): Promise<void> {
    await this.#limiter.close?.()
  }

  /** Returns what calls wait for when a turn is refused for this reason. */
  causeOf(next: NotYet): keyof CallWaits {
    if (next === 'token') return 'token'
    if (this.#running >= this.#policy.concurrency) return 'slot'
    return this.#pauses.wait(performance.now()) > 0 ? 'pause' : 'limit'
  }

  /** Returns the milliseconds until that many queued calls are likely to have gone. */
  emptyIn(queued: number): number {
    return this.#progress.emptyIn(this.backlog(queued))
  }

  backlog(queued: number): Backlog {
    return {
      queued,
      running: this.#running,
      concurrency: this.#policy.concurrency,
      limiter: this.#limiter,
      pausedUntil: this.#pauses.until,
    }
  }

  status(): { running: number; quotaUsed?: number; pausedUntil?: string } {
    const pause = this.#pauses.until - performance.now()
    const quotaUsed = this.#limiter.used?.()
    return {
      running: this.#running,
      ...(quotaUsed !== undefined && { quotaUsed: Math.min(1, finiteDuration(quotaUsed)) }),
      ...(pause > 0 && { pausedUntil: dateFromNow(pause) }),
    }
  }
}
