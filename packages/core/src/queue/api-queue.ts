import type { AccessToken } from '../token/access-token.ts'
import { ApiPauses, type SentCall } from './api-pauses.ts'
import { checkPriority } from './call-options.ts'
import { refuse } from '../options/check.ts'
import type { ResponseHead } from './rate-limit-headers.ts'
import type { TokenlaneError } from '../errors.ts'
import type { CallWaits, Emit } from '../events.ts'
import { WaitingCalls, type Waiter } from './waiting-calls.ts'
import { WaitingTime } from './waiting-time.ts'
import { longestTimer } from '../time/timers.ts'
import { type Backlog, isBounded, mustHaveRoom, waitedTooLong } from './admission.ts'
import { Delivery, HeldByRequests } from './held-by-requests.ts'
import { Progress } from './progress.ts'
import { ReportedLimits } from './reported-limits.ts'
import { createRateLimiter } from './memory-limiter.ts'
import type { NotBefore, Permit, RateLimiter } from './rate-limiter.ts'
import type { CheckedPolicy } from './rate-policy.ts'
import type { CurrentToken } from '../token/renewing-token.ts'
import { SharedAbort } from './shared-abort.ts'
import { checkLimiter, limiterEvents, type RateLimiterFactory } from './limiter-factory.ts'
import { dateFromNow, finiteDuration } from '../time/finite-duration.ts'
import { isRequestBound } from '../time/request-bound.ts'

/** How a call wants to wait. */
export interface EnterOptions {
  readonly signal: AbortSignal | undefined
  /** Higher goes first; equal ones go in order. */
  readonly priority: number
  /** Whether the call was sent before: then it goes first and is never refused. */
  readonly resend: boolean
}

/** What a call holds while it may send: a live token, a permit, and a slot until it leaves the queue. */
export interface Turn extends SentCall {
  readonly token: AccessToken
  readonly permit: Permit
}

/** The queue in a snapshot. */
export interface QueueStatus {
  readonly queued: number
  readonly running: number
  readonly quotaUsed?: number
  readonly pausedUntil?: string
  readonly emptyAt?: string
}

/** Before every priority that a caller can give. */
const first = Number.MAX_SAFE_INTEGER

/**
 * The queue in front of one API with a rate policy.
 *
 * First it decides when the next call may go (slot, live token, permit), then which call: the first one that is queued
 * at that moment.
 */
export class ApiQueue {
  readonly #api: string
  #policy: CheckedPolicy
  readonly #token: CurrentToken
  readonly #emit: Emit
  readonly #limiter: RateLimiter
  readonly #waiting = new WaitingCalls<QueuedCall>()
  readonly #aborts = new SharedAbort<QueuedCall>((call, reason) => this.#giveUp(call, reason))
  readonly #progress = new Progress()
  readonly #waitingTime = new WaitingTime()
  readonly #pauses: ApiPauses
  readonly #reported: ReportedLimits
  /** Only in a runtime that ends what calls hold together with their incoming request. */
  readonly #held: HeldByRequests<QueuedCall | Turn | Renewal> | undefined
  #running = 0
  #renewing: Renewal | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(
    api: string,
    policy: CheckedPolicy,
    token: CurrentToken,
    emit: Emit,
    shared: RateLimiterFactory | undefined,
  ) {
    this.#api = api
    this.#policy = policy
    this.#token = token
    this.#emit = emit
    this.#held = isRequestBound() ? new HeldByRequests() : undefined
    this.#limiter = shared === undefined ? createRateLimiter(policy) : this.#share(shared)
    this.#pauses = new ApiPauses(api, policy, this.#limiter, emit)
    this.#reported = new ReportedLimits(api, policy, this.#pauses, emit)
  }

  /**
   * Waits for a turn.
   *
   * @throws TokenlaneError `QUEUE_FULL`, `QUEUE_TIMEOUT`, or why there is no token; the signal's reason.
   */
  enter(options: EnterOptions): Turn | Promise<Turn> {
    checkPriority(options.priority, 'priority')
    if (this.#held !== undefined) this.#takeBack(this.#held)
    const turn = this.#waiting.size === 0 ? this.#next() : undefined
    if (isTurn(turn)) {
      this.#held?.add(turn)
      if (this.#emit?.isObserved)
        this.#emit({ type: 'call.sent', api: this.#api, waited: 0, queued: 0, emptyIn: 0 })
      return turn
    }
    if (!options.resend && isBounded(this.#policy))
      mustHaveRoom(this.#api, this.#policy, this.#backlog(), this.#waiting.ahead(options.priority) + 1)
    return this.#queue(options)
  }

  /**
   * Takes the response to a call. The caller judges it for the token, and then lets the queue `serve` on.
   *
   * @returns whether the API refused the call for its limit.
   */
  answered(turn: Turn, response: ResponseHead): boolean {
    turn.permit.answered()
    this.#progress.answered(turn.takenAt)
    const isRefused = this.#pauses.answered(turn, response)
    this.#reported.answered(turn, response, isRefused)
    return isRefused
  }

  /** Gives the slot back, and the unit too if nothing was sent. */
  leave(turn: Turn, sent: boolean): void {
    // it was taken back
    if (this.#held?.remove(turn) === false) return
    if (sent) turn.permit.ended()
    else turn.permit.cancel()
    this.#progress.left(turn.takenAt)
    this.#pauses.left(turn, sent)
    this.#running -= 1
    this.serve()
  }

  /** Lifts a pause that the API asked for, for every process that shares the limiter. */
  resume(): void {
    this.#pauses.resume()
    this.serve()
  }

  /**
   * Keeps another policy from now on, for queued calls too.
   *
   * @throws TokenlaneError `INVALID_OPTIONS` if the shared limiter cannot.
   */
  setPolicy(policy: CheckedPolicy): void {
    if (this.#limiter.setPolicy === undefined)
      refuse('limiter().setPolicy', 'missing', 'a function, where a rate policy is changed at run time')
    this.#limiter.setPolicy(policy)
    this.#policy = policy
    this.#pauses.policy = policy
    this.#reported.policy = policy
    for (const call of this.#waiting.clear()) {
      this.#waiting.add(call)
      clearTimeout(call.timer)
      this.#limitWait(call)
    }
    this.serve()
  }

  /** Refuses all queued calls except those that were sent before. */
  close(error: TokenlaneError): void {
    for (const call of this.#waiting.clear()) {
      if (call.resend) this.#waiting.add(call)
      else this.#end(call, error)
    }
    this.serve()
  }

  /** Ends what the limiter holds, after the last call. */
  async ended(): Promise<void> {
    await this.#limiter.close?.()
  }

  /** Gives turns to queued calls for as long as there are any, and sees to it that this goes on. */
  serve(waitedFor?: AccessToken): void {
    clearTimeout(this.#timer)
    if (this.#held !== undefined) this.#takeBack(this.#held)
    let token = waitedFor
    while (this.#waiting.size > 0) {
      const next = this.#next(token)
      // only the call that waited for it: the others may get a newer one
      token = undefined
      if (!isTurn(next)) return this.#waitFor(next)
      this.#hand(next)
    }
    this.#waitingTime.waitFor(undefined)
  }

  /** Returns for what calls have waited in this queue, in milliseconds since it began. */
  waits(): CallWaits {
    return this.#waitingTime.read()
  }

  status(): QueueStatus {
    const pause = this.#pauses.until - performance.now()
    const quotaUsed = this.#limiter.used?.()
    return {
      queued: this.#waiting.size,
      running: this.#running,
      ...(quotaUsed !== undefined && { quotaUsed: Math.min(1, finiteDuration(quotaUsed)) }),
      ...(pause > 0 && { pausedUntil: dateFromNow(pause) }),
      ...(this.#waiting.size > 0 && { emptyAt: dateFromNow(this.#emptyIn()) }),
    }
  }

  #share(shared: RateLimiterFactory): RateLimiter {
    const { limits, spread, accounting, unansweredGrace } = this.#policy
    const limiter = shared({
      baseUrl: this.#api,
      limits,
      spread,
      accounting,
      unansweredGrace,
      unitsAvailable: () => this.serve(),
      paused: (ms) => this.#pauses.pauseFor(ms),
      resumed: () => this.#resumed(),
      ...limiterEvents(this.#api, this.#emit),
    })
    return checkLimiter(limiter)
  }

  #resumed(): void {
    this.#pauses.resumed()
    this.serve()
  }

  #queue({ signal, priority, resend }: EnterOptions): Promise<Turn> {
    const place = resend ? first : priority
    if (this.#held === undefined)
      return new Promise((resolve, reject) => {
        this.#add(new QueuedCall(place, resend, signal, resolve, reject))
      })
    const delivery = new Delivery<Turn>()
    const call = new QueuedCall(place, resend, signal, delivery.resolve, delivery.reject)
    this.#held.add(call)
    this.#add(call)
    return delivery.arrival(() => this.serve())
  }

  #add(call: QueuedCall): void {
    this.#waiting.add(call)
    if (call.signal) this.#aborts.watch(call.signal, call)
    this.#limitWait(call)
    if (this.#emit?.isObserved)
      this.#emit({
        type: 'call.queued',
        api: this.#api,
        queued: this.#waiting.size,
        emptyIn: this.#emptyIn(),
      })
    this.serve()
  }

  /** Takes back what calls held whose incoming request the runtime has ended. */
  #takeBack(held: HeldByRequests<QueuedCall | Turn | Renewal>): void {
    for (const holding of held.lost()) {
      if (holding instanceof QueuedCall) this.#giveUp(holding, undefined)
      else if ('isRenewal' in holding) this.#renewed(holding)
      else this.leave(holding, true)
    }
  }

  #limitWait(call: QueuedCall): void {
    const { maxWait } = this.#policy
    if (maxWait === undefined || call.resend) return
    const left = call.enteredAt + maxWait - performance.now()
    call.timer = setTimeout(() => this.#giveUp(call, waitedTooLong(this.#api, maxWait)), delayOf(left))
  }

  #waitFor(next: 'token' | NotBefore): void {
    this.#waitingTime.waitFor(this.#causeOf(next))
    // an observer that made a call when one was sent has let the queue serve meanwhile
    clearTimeout(this.#timer)
    if (next === 'token') void this.#renew()
    // a timer that fires early finds out and waits again; rounded, since one rounded up is late by a millisecond,
    // which with `spread` is a tenth of 100 calls a second. With Infinity, a response or a call that leaves serves on
    else if (next < Infinity && this.#held === undefined)
      this.#timer = setTimeout(() => this.serve(), delayOf(next))
  }

  #causeOf(next: 'token' | NotBefore): keyof CallWaits {
    if (next === 'token') return 'token'
    if (this.#running >= this.#policy.concurrency) return 'slot'
    return this.#pauses.wait(performance.now()) > 0 ? 'pause' : 'limit'
  }

  /**
   * Returns a turn, or why there is none yet: no live token, or try again in n milliseconds. `waitedFor` is
   * the token that a renewal just returned; it is used even if it is past its floor, because no better one exists.
   */
  #next(waitedFor?: AccessToken): Turn | 'token' | NotBefore {
    if (this.#running >= this.#policy.concurrency) return Infinity
    const now = performance.now()
    const pause = this.#pauses.wait(now)
    if (pause > 0) return pause
    const token = this.#token.live() ?? waitedFor
    if (token === undefined) return 'token'
    const permit = this.#limiter.take(this.#couldUse())
    // a shared limiter that answers NaN is asked again
    if (typeof permit === 'number') return permit > 0 ? permit : 0
    this.#running += 1
    const turn = { token, permit, takenAt: now, order: this.#pauses.nextOrder }
    this.#pauses.sent(turn)
    return turn
  }

  /** Returns how many calls could go if there were units, the one that just came included. */
  #couldUse(): number {
    return Math.max(1, Math.min(this.#waiting.size, this.#policy.concurrency - this.#running))
  }

  #hand(turn: Turn): void {
    const call = this.#waiting.next() as QueuedCall
    this.#forget(call)
    this.#held?.exchange(call, turn)
    call.resolve(turn)
    if (this.#emit?.isObserved)
      this.#emit({
        type: 'call.sent',
        api: this.#api,
        waited: turn.takenAt - call.enteredAt,
        queued: this.#waiting.size,
        emptyIn: this.#emptyIn(),
      })
  }

  async #renew(): Promise<void> {
    if (this.#renewing !== undefined) return
    const renewal: Renewal = { isRenewal: true }
    this.#renewing = renewal
    this.#held?.add(renewal)
    let token: AccessToken | undefined
    try {
      token = await this.#token.wait(undefined)
    } catch (error) {
      // one outcome for all: each by itself would ask the credentials provider anew
      for (const call of this.#waiting.clear()) this.#end(call, error)
    }
    this.#renewed(renewal)
    this.serve(token)
  }

  #renewed(renewal: Renewal): void {
    this.#held?.remove(renewal)
    if (this.#renewing === renewal) this.#renewing = undefined
  }

  /** Takes a call out of the queue. */
  #giveUp(call: QueuedCall, reason: unknown): void {
    this.#waiting.leave(call)
    this.#end(call, reason)
    // the queue may be empty now
    this.serve()
  }

  #end(call: QueuedCall, reason: unknown): void {
    this.#forget(call)
    this.#held?.remove(call)
    call.reject(reason)
    call.clear()
    if (this.#waiting.size === 0) this.#limiter.noWaiters?.()
  }

  #forget(call: QueuedCall): void {
    clearTimeout(call.timer)
    if (call.signal) this.#aborts.forget(call.signal, call)
  }

  #emptyIn(): number {
    return this.#progress.emptyIn(this.#backlog())
  }

  #backlog(): Backlog {
    return {
      queued: this.#waiting.size,
      running: this.#running,
      concurrency: this.#policy.concurrency,
      limiter: this.#limiter,
      pausedUntil: this.#pauses.until,
    }
  }
}

/** The wait for a token that all queued calls share. */
interface Renewal {
  readonly isRenewal: true
}

/** A call that waits for its turn. */
class QueuedCall implements Waiter {
  readonly priority: number
  readonly resend: boolean
  signal: AbortSignal | undefined
  resolve: (turn: Turn) => void
  reject: (reason: unknown) => void
  readonly enteredAt: number = performance.now()
  timer: ReturnType<typeof setTimeout> | undefined
  gone = false

  constructor(
    priority: number,
    resend: boolean,
    signal: AbortSignal | undefined,
    resolve: (turn: Turn) => void,
    reject: (reason: unknown) => void,
  ) {
    this.priority = priority
    this.resend = resend
    this.signal = signal
    this.resolve = resolve
    this.reject = reject
  }

  /** Drops all references: the call's place in the queue may outlast it. */
  clear(): void {
    this.signal = undefined
    this.resolve = ignore
    this.reject = ignore
  }
}

function ignore(): void {}

function isTurn(value: unknown): value is Turn {
  return typeof value === 'object'
}

function delayOf(ms: number): number {
  return Math.min(Math.max(1, Math.round(ms)), longestTimer)
}
