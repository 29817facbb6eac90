import type { CallWaits } from '../events.ts'
import { dateFromNow, finiteDuration } from '../time/finite-duration.ts'
import type { AccessToken } from '../token/access-token.ts'
import type { CurrentToken } from '../token/renewing-token.ts'
import type { Backlog } from './admission.ts'
import { ApiBudget } from './api-budget.ts'
import type { Budget } from './budget.ts'
import type { FairTurns } from './fair-turns.ts'
import type { LimiterChoice } from './limiter-factory.ts'
import { Progress } from './progress.ts'
import type { Turn } from './queued-calls.ts'
import type { ResponseHead } from './rate-limit-headers.ts'
import type { NotBefore } from './rate-limiter.ts'
import type { CheckedPolicy } from './rate-policy.ts'

/** What a call waits for before it gets a turn: a live token, or n milliseconds. */
export type NotYet = 'token' | NotBefore

/** What the queue of one API is made for. */
export interface QueueOptions extends LimiterChoice {
  readonly token: CurrentToken
  /** The budget that this queue shares with those of other tenants; `undefined`: it has one to itself. */
  readonly shared?: FairTurns | undefined
}

/** Decides whether the next call of a queue may go, by slots, a live token and the budget; not which call that is. */
export class Turns {
  readonly #token: CurrentToken
  readonly #budget: Budget
  readonly #progress = new Progress()
  #policy: CheckedPolicy
  #running = 0

  /** @param serve is called when there may be a turn again, though no call has left. */
  constructor(options: QueueOptions, serve: () => void) {
    this.#policy = options.policy
    this.#token = options.token
    this.#budget = options.shared?.join(serve) ?? new ApiBudget(options, serve)
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
    const pause = this.#budget.pausedFor(now)
    if (pause > 0) return pause
    const token = this.#token.live() ?? waitedFor
    if (token === undefined) return 'token'
    // how many calls could go if there were units, the one that just came included
    const couldUse = Math.max(1, Math.min(queued, this.#policy.concurrency - this.#running))
    const permit = this.#budget.take(couldUse)
    // a shared limiter that answers NaN is asked again
    if (typeof permit === 'number') return permit > 0 ? permit : 0
    this.#running += 1
    const turn = { token, permit, takenAt: now, order: this.#budget.nextOrder }
    this.#budget.sent(turn)
    return turn
  }

  /** Takes the response to a call, and returns whether the API refused the call for its limit. */
  answered(turn: Turn, response: ResponseHead): boolean {
    this.#progress.answered(turn.takenAt)
    return this.#budget.answered(turn, response)
  }

  /** Takes the slot back, and the unit too if nothing was sent. */
  leave(turn: Turn, sent: boolean): void {
    this.#progress.left(turn.takenAt)
    this.#running -= 1
    this.#budget.left(turn, sent)
  }

  /** Lifts a pause that the API asked for, for every queue and process that shares the budget. */
  resume(): void {
    this.#budget.resume()
  }

  /** @throws TokenlaneError `INVALID_OPTIONS` if the shared limiter cannot keep another policy. */
  setPolicy(policy: CheckedPolicy): void {
    this.#budget.setPolicy(policy)
    this.#policy = policy
  }

  /** Notes that no call waits any more, because the last ones gave up. */
  noneWaits(): void {
    this.#budget.noWaiters()
  }

  /** Ends what the queue holds of its budget, after the last call. */
  ended(): Promise<void> {
    return this.#budget.close()
  }

  /** Returns what calls wait for when a turn is refused for this reason. */
  causeOf(next: NotYet): keyof CallWaits {
    if (next === 'token') return 'token'
    if (this.#running >= this.#policy.concurrency) return 'slot'
    return this.#budget.pausedFor(performance.now()) > 0 ? 'pause' : 'limit'
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
      limiter: this.#budget,
      pausedUntil: this.#budget.pausedUntil,
    }
  }

  /** Whether the API is paused for longer than a call may wait. */
  get isPausedTooLong(): boolean {
    const { maxWait } = this.#policy
    return maxWait !== undefined && this.#budget.pausedUntil - performance.now() > maxWait
  }

  /** As `Budget.isUnspent`. */
  get isUnspent(): boolean {
    return this.#budget.isUnspent
  }

  status(): { running: number; quotaUsed?: number; quotaLeft?: number; pausedUntil?: string } {
    const pause = this.#budget.pausedUntil - performance.now()
    const quotaUsed = this.#budget.used()
    const quotaLeft = this.#budget.unitsLeft()
    return {
      running: this.#running,
      ...(quotaUsed !== undefined && { quotaUsed: Math.min(1, finiteDuration(quotaUsed)) }),
      ...(quotaLeft !== undefined && quotaLeft < Infinity && { quotaLeft: Math.max(0, quotaLeft) }),
      ...(pause > 0 && { pausedUntil: dateFromNow(pause) }),
    }
  }
}
