import { TokenlaneError } from '../errors.ts'
import type { CallWaits, Emit } from '../events.ts'
import { dateFromNow } from '../time/finite-duration.ts'
import { queueTimer } from '../time/timers.ts'
import type { AccessToken } from '../token/access-token.ts'
import type { CurrentToken } from '../token/renewing-token.ts'
import { Limits, type LimitsOptions, type LimitsStatus } from './limits.ts'
import { checkPriority, type EnterOptions, QueuedCalls, type RunningCall } from './queued-calls.ts'
import type { ResponseHead } from './rate-limit-headers.ts'
import type { CheckedPolicy } from './rate-policy.ts'
import { WaitingTime } from './waiting-time.ts'

export interface QueueOptions extends LimitsOptions {
  readonly token: Pick<CurrentToken, 'live' | 'wait' | 'failure'>
}

/** The queue in a snapshot. */
export interface QueueStatus extends LimitsStatus {
  /** Queued calls. */
  readonly queued: number
  /** Calls under way. */
  readonly running: number
  /**
   * ISO 8601, while calls are queued: the earliest time at which the last of them is sent, estimated from the limits and
   * from how long calls have held their slots. Response times, later calls and pauses that the API asks for add to it.
   */
  readonly emptyAt?: string
}

/** Why no call can be sent now, and for how many milliseconds; `Infinity`: until something changes. */
interface Obstacle {
  readonly cause: keyof CallWaits
  readonly ms: number
}

/**
 * The queue in front of one API with a rate policy.
 *
 * First it finds out whether a call can be sent now (slot, pause, live token, limits), then which one: the first of the
 * calls that are queued at that moment.
 */
export class ApiQueue {
  readonly #api: string
  readonly #token: QueueOptions['token']
  readonly #emit: Emit
  readonly #limits: Limits
  readonly #calls: QueuedCalls
  /** For what its calls wait. */
  readonly waitingTime: WaitingTime = new WaitingTime()
  #policy: CheckedPolicy
  #running = 0
  /** How long calls held their slots, in milliseconds: a moving average. */
  #slotTime = 0
  /** Whether calls are being sent, or may not be sent yet. */
  #isServing = false
  #isRenewing = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: QueueOptions) {
    const { api, policy, token, emit } = options
    this.#api = api
    this.#policy = policy
    this.#token = token
    this.#emit = emit
    this.#calls = new QueuedCalls(
      (maxWait) => this.#tooLong(maxWait, `waited too long (cause: ${this.waitingTime.cause})`),
      () => {
        this.#noWaiters()
        this.serve()
      },
    )
    this.#limits = new Limits(options, () => this.serve())
  }

  /**
   * Returns what a call holds while it is under way, without a promise where it need not wait. Throws `QUEUE_FULL`,
   * `QUEUE_TIMEOUT`, the error of the failed renewal, or the signal's reason.
   */
  enter(options: EnterOptions): RunningCall | Promise<RunningCall> {
    const { priority, sentBefore } = options
    checkPriority(priority)
    const mayGoNow = this.#calls.size === 0 && !this.#isServing
    const call = mayGoNow ? this.#next(1) : undefined
    if (call !== undefined && !('cause' in call)) {
      this.#reportSent(0)
      return call
    }
    const refusal = sentBefore ? undefined : this.#refusalOf(priority)
    if (refusal !== undefined) {
      this.#noWaiters()
      throw refusal
    }
    const waiting = this.#calls.add(options, this.#policy.maxWait)
    if (this.#emit.isObserved) this.#emit({ type: 'call.queued', api: this.#api, ...this.#length() })
    this.serve()
    return waiting
  }

  /**
   * Reads the response to a call, and returns what `judge` makes of it. No other call is sent meanwhile: it would get
   * the token that was refused.
   */
  answered<T>(call: RunningCall, response: ResponseHead, judge: (isLimited: boolean) => T): T {
    const wasServing = this.#isServing
    this.#isServing = true
    try {
      return judge(this.#limits.answered(call.unit, response))
    } finally {
      this.#isServing = wasServing
      this.serve()
    }
  }

  /** Takes back the slot of a call, and its unit too if it was never sent. */
  leave(call: RunningCall, wasSent: boolean): void {
    const time = performance.now() - call.unit.sentAt
    this.#slotTime += this.#slotTime === 0 ? time : (time - this.#slotTime) / 16
    this.#running -= 1
    this.#limits.ended(call.unit, wasSent)
    this.serve()
  }

  /** Lifts a pause that the API asked for, for every process that shares the limiter. */
  resume(): void {
    this.#limits.resume()
    this.serve()
  }

  /** Keeps another policy from now on, for queued calls too; `INVALID_OPTIONS` if the shared limiter cannot. */
  setPolicy(policy: CheckedPolicy): void {
    this.#limits.setPolicy(policy)
    this.#policy = policy
    this.#calls.limitWaits(policy.maxWait)
    this.serve()
  }

  /** Refuses all queued calls except those that were sent before. */
  close(error: TokenlaneError): void {
    this.#refuseAll(error, { stay: true })
    this.serve()
  }

  /** Ends what the limiter holds, after the last call. */
  async end(): Promise<void> {
    await this.#limits.limiter.close?.()
  }

  /** Sends queued calls for as long as that is possible, and sees to it that this goes on. */
  serve(waitedFor?: AccessToken): void {
    // an observer, or the limiter, that changes something while calls are sent: the loop below sees it
    if (this.#isServing) return
    clearTimeout(this.#timer)
    let token = waitedFor
    let obstacle: Obstacle | undefined
    this.#isServing = true
    try {
      while (this.#calls.size > 0 && obstacle === undefined) {
        const next = this.#next(this.#calls.size, token)
        // only for the call that waited for it: the others may get a newer one
        token = undefined
        if ('cause' in next) obstacle = next
        else this.#send(next)
      }
    } finally {
      this.#isServing = false
    }
    this.#wait(obstacle)
  }

  /** Whether a call that comes now is queued, though there is a token. */
  get mustWait(): boolean {
    return this.#calls.size > 0 || this.#freeSlots <= 0 || this.#limits.forecast(1) > 0
  }

  /** Whether the API is paused for longer than a call may wait. */
  get isPausedTooLong(): boolean {
    const { maxWait = Infinity } = this.#policy
    return this.#limits.pausedUntil - performance.now() > maxWait
  }

  status(): QueueStatus {
    const { queued, emptyIn } = this.#length()
    return {
      queued,
      running: this.#running,
      ...this.#limits.status(),
      ...(queued > 0 && { emptyAt: dateFromNow(emptyIn) }),
    }
  }

  get #freeSlots(): number {
    return this.#policy.concurrency - this.#running
  }

  /**
   * Returns what the next call needs to be sent, or what stands in its way.
   *
   * @param queued how many calls could be sent, if nothing stood in their way.
   * @param waitedFor the token that a renewal just returned. It is used even if it is past its floor, because no better
   * one exists.
   */
  #next(queued: number, waitedFor?: AccessToken): RunningCall | Obstacle {
    const freeSlots = this.#freeSlots
    if (freeSlots <= 0) return { cause: 'slot', ms: Infinity }
    const now = performance.now()
    const pause = this.#limits.pausedFor(now)
    if (pause > 0) return { cause: 'pause', ms: pause }
    const token = this.#token.live() ?? waitedFor
    if (token === undefined) return { cause: 'token', ms: Infinity }
    const unit = this.#limits.take(now, Math.min(queued, freeSlots))
    if (typeof unit === 'number') return { cause: 'limit', ms: unit }
    this.#running += 1
    return { token, unit }
  }

  #send(call: RunningCall): void {
    const { send, queuedAt } = this.#calls.next()
    send(call)
    this.#reportSent(call.unit.sentAt - queuedAt)
  }

  #reportSent(waited: number): void {
    if (this.#emit.isObserved) this.#emit({ type: 'call.sent', api: this.#api, waited, ...this.#length() })
  }

  #wait(obstacle: Obstacle | undefined): void {
    this.waitingTime.waitFor(obstacle?.cause)
    if (obstacle === undefined) return
    if (obstacle.cause === 'token') void this.#renew()
    // a timer that fires early finds out, and waits again
    else if (obstacle.ms < Infinity) this.#timer = queueTimer(obstacle.ms, () => this.serve())
  }

  /** Waits for a token, for all queued calls: each by itself would ask the credentials provider again. */
  async #renew(): Promise<void> {
    if (this.#isRenewing) return
    this.#isRenewing = true
    let token: AccessToken | undefined
    try {
      token = await this.#token.wait(undefined)
    } catch (error) {
      this.#refuseAll(error, { stay: false })
    }
    this.#isRenewing = false
    this.serve(token)
  }

  /** Returns why a call may not be queued: it would be one too many, or by the limits alone wait too long. */
  #refusalOf(priority: number): TokenlaneError | undefined {
    const api = this.#api
    const { maxQueued, maxWait } = this.#policy
    const tooMany = this.#calls.size + 1 - maxQueued
    if (tooMany > 0 && (tooMany > this.#freeSlots || this.#limits.forecast(tooMany) > 0))
      return new TokenlaneError(
        'QUEUE_FULL',
        `Cannot send call to ${api}: the queue is full; \`maxQueued\` in its rate policy is ${maxQueued}`,
        { api },
      )
    if (maxWait === undefined) return undefined
    const wait = this.#limits.forecast(this.#calls.ahead(priority) + 1)
    const why = this.#limits.pausedUntil > performance.now() ? ': the API is paused' : ''
    return wait > maxWait
      ? this.#tooLong(maxWait, `must wait at least ${Math.ceil(wait)} ms${why}`)
      : undefined
  }

  /** Returns the error of a call that waits longer than it may, with what has failed meanwhile. */
  #tooLong(maxWait: number, what: string): TokenlaneError {
    const token = this.waitingTime.cause === 'token' ? this.#token.failure : undefined
    const { failure = '' } = this.#limits
    const why = token?.reason ?? (failure && `the shared rate budget failed (${failure})`)
    const reason = `Cannot send call to ${this.#api}: it ${what}; \`maxWait\` in its rate policy is ${maxWait} ms`
    return new TokenlaneError('QUEUE_TIMEOUT', reason + (why && `; ${why}`), {
      ...(token?.error as object),
      api: this.#api,
    })
  }

  #refuseAll(error: unknown, options: { readonly stay: boolean }): void {
    if (this.#calls.size === 0) return
    this.#calls.refuseAll(error, options)
    this.#noWaiters()
  }

  /** Tells the limiter if no call waits for it any more. */
  #noWaiters(): void {
    if (this.#calls.size === 0) this.#limits.limiter.noWaiters?.()
  }

  /** Returns how many calls are queued, and in how many milliseconds the last is sent: later calls and pauses add to it. */
  #length(): { queued: number; emptyIn: number } {
    const queued = this.#calls.size
    if (queued === 0) return { queued, emptyIn: 0 }
    const emptyIn = this.#limits.estimate(queued)
    const withoutSlot = queued - this.#freeSlots
    if (withoutSlot <= 0) return { queued, emptyIn }
    const pause = Math.max(0, this.#limits.pausedUntil - performance.now())
    const bySlots = pause + (withoutSlot / this.#policy.concurrency) * this.#slotTime
    return { queued, emptyIn: Math.max(emptyIn, bySlots) }
  }
}
