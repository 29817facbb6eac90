import type { AccessToken } from '../token/access-token.ts'
import { checkPriority } from './call-options.ts'
import { TokenlaneError } from '../errors.ts'
import type { Emit } from '../events.ts'
import { Line } from './waiting-calls.ts'
import { longestTimer } from '../time/timers.ts'
import { Mean } from './mean.ts'
import { QueuedCall } from './queued-call.ts'
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts'
import type { CheckedPolicy } from './rate-policy.ts'
import type { RenewingToken } from '../token/renewing-token.ts'
import { SharedAbort } from './shared-abort.ts'
import { checkLimiter, limiterEvents, type RateLimiterFactory } from './limiter-factory.ts'
import type { Turn } from './turn.ts'

/** How a call wants to wait. */
export interface LaneOptions {
  readonly signal: AbortSignal | undefined
  /** Higher goes first; equal ones go in order. */
  readonly priority: number
  /** Whether the call was under way already: then it goes first and is never refused. */
  readonly again: boolean
}

/** The lane in a snapshot. */
export interface LaneStatus {
  readonly queued: number
  readonly running: number
  readonly pausedUntil?: string
  readonly emptyAt?: string
}

/** Before every priority that a caller can give. */
const first = Number.MAX_SAFE_INTEGER
/** What a date can say at most: an API may ask for any pause. */
const longestDate = 8_640_000_000_000_000

/**
 * The line in front of one API with a rate policy.
 *
 * First it is decided when the next call may go (slot, live token, permit), then who goes: the first in line at
 * that moment.
 */
export class Lane {
  readonly #api: string
  readonly #policy: CheckedPolicy
  readonly #token: RenewingToken
  readonly #emit: Emit
  readonly #limiter: RateLimiter
  readonly #line = new Line<QueuedCall>()
  readonly #aborts = new SharedAbort<QueuedCall>((call, reason) => this.#giveUp(call, reason))
  readonly #roundTrip = new Mean()
  readonly #slotTime = new Mean()
  #running = 0
  #pausedUntil = Number.NEGATIVE_INFINITY
  #renewing = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(
    api: string,
    policy: CheckedPolicy,
    token: RenewingToken,
    emit: Emit,
    shared: RateLimiterFactory | undefined,
  ) {
    this.#api = api
    this.#policy = policy
    this.#token = token
    this.#emit = emit
    this.#limiter = shared === undefined ? createRateLimiter(policy) : this.#share(shared)
  }

  /**
   * Waits for a turn.
   *
   * @throws TokenlaneError `QUEUE_FULL`, `QUEUE_TIMEOUT`, or why there is no token; the signal's reason.
   */
  enter(options: LaneOptions): Turn | Promise<Turn> {
    checkPriority(options.priority, 'priority')
    const turn = this.#line.size === 0 ? this.#next() : undefined
    if (isTurn(turn)) {
      this.#emit?.({ type: 'call.sent', api: this.#api, waited: 0, queued: 0, emptyIn: 0 })
      return turn
    }
    if (!options.again) this.#mustHaveRoom(options.priority)
    return this.#queue(options)
  }

  /** The response arrived; whoever tells it lets the lane serve on when it is judged. */
  answered(turn: Turn): void {
    turn.permit.answered()
    this.#roundTrip.add(performance.now() - turn.takenAt)
  }

  /** Gives the slot back, and the unit too if nothing was sent. */
  leave(turn: Turn, sent: boolean): void {
    if (sent) turn.permit.ended()
    else turn.permit.cancel()
    this.#slotTime.add(performance.now() - turn.takenAt)
    this.#running -= 1
    this.serve()
  }

  /** Nothing goes out for so many milliseconds. */
  pause(ms: number, status: number): void {
    this.#pauseFor(ms)
    this.#limiter.pause?.(ms)
    this.#emit?.({ type: 'api.paused', api: this.#api, for: ms, status })
  }

  /** Refuses everybody who waits, but for those who were under way already. */
  close(error: TokenlaneError): void {
    for (const call of this.#line.clear()) {
      if (call.again) this.#line.add(call)
      else this.#end(call, error)
    }
    this.serve()
  }

  /** Every call has ended. */
  async ended(): Promise<void> {
    await this.#limiter.close?.()
  }

  /** Gives turns to the line for as long as there are any, and sees to it that this goes on. */
  serve(waitedFor?: AccessToken): void {
    clearTimeout(this.#timer)
    let token = waitedFor
    while (this.#line.size > 0) {
      const next = this.#next(token)
      // the one who waited for it: the others may get a new one
      token = undefined
      if (!isTurn(next)) return this.#waitFor(next)
      this.#hand(next)
    }
  }

  status(): LaneStatus {
    const pause = this.#pausedUntil - performance.now()
    return {
      queued: this.#line.size,
      running: this.#running,
      ...(pause > 0 && { pausedUntil: fromNow(pause) }),
      ...(this.#line.size > 0 && { emptyAt: fromNow(this.#emptyIn()) }),
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
      changed: () => this.serve(),
      paused: (ms) => this.#pauseFor(ms),
      resumed: () => this.#resume(),
      ...limiterEvents(this.#api, this.#emit),
    })
    return checkLimiter(limiter)
  }

  #resume(): void {
    this.#pausedUntil = Number.NEGATIVE_INFINITY
    this.serve()
  }

  #pauseFor(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms)
  }

  #queue({ signal, priority, again }: LaneOptions): Promise<Turn> {
    const { maxWait } = this.#policy
    return new Promise((resolve, reject) => {
      const call = new QueuedCall(again ? first : priority, again, signal, resolve, reject)
      this.#line.add(call)
      if (signal) this.#aborts.watch(signal, call)
      if (maxWait !== undefined && !again)
        call.timer = setTimeout(() => this.#giveUp(call, this.#timeout()), delayOf(maxWait))
      this.#emit?.({ type: 'call.queued', api: this.#api, ...this.#progress() })
      this.serve()
    })
  }

  #waitFor(next: 'token' | number): void {
    if (next === 'token') void this.#renew()
    // a timer that fires early finds out and waits again; rounded, since one rounded up is late by a millisecond,
    // which with `spread` is a tenth of 100 calls a second. Without an end, an answer or a leave serves on
    else if (next < Infinity) this.#timer = setTimeout(() => this.serve(), delayOf(next))
  }

  /**
   * The next turn, or what it waits for: a token, or a change within so many milliseconds. Who waited for a token
   * may be given an old one, and uses it: it is the best there is.
   */
  #next(waitedFor?: AccessToken): Turn | 'token' | number {
    if (this.#running >= this.#policy.concurrency) return Infinity
    const now = performance.now()
    if (this.#pausedUntil > now) return this.#pausedUntil - now
    const token = this.#token.live() ?? waitedFor
    if (token === undefined) return 'token'
    const permit = this.#limiter.take(this.#wanted())
    if (typeof permit === 'number') return permit
    this.#running += 1
    return { token, permit, takenAt: now }
  }

  /** How many calls could go if there were units, the one that just came included. */
  #wanted(): number {
    return Math.max(1, Math.min(this.#line.size, this.#policy.concurrency - this.#running))
  }

  #hand(turn: Turn): void {
    const call = this.#line.next() as QueuedCall
    this.#forget(call)
    call.resolve(turn)
    this.#emit?.({
      type: 'call.sent',
      api: this.#api,
      waited: turn.takenAt - call.enteredAt,
      ...this.#progress(),
    })
  }

  async #renew(): Promise<void> {
    if (this.#renewing) return
    this.#renewing = true
    let token: AccessToken | undefined
    try {
      token = await this.#token.wait(undefined)
    } catch (error) {
      const call = this.#line.next()
      if (call) this.#end(call, error)
    }
    this.#renewing = false
    this.serve(token)
  }

  /** Takes a call out of the line. */
  #giveUp(call: QueuedCall, reason: unknown): void {
    this.#line.leave(call)
    this.#end(call, reason)
    // the line may be empty now
    this.serve()
  }

  #end(call: QueuedCall, reason: unknown): void {
    this.#forget(call)
    call.reject(reason)
    call.clear()
    if (this.#line.size === 0) this.#limiter.enough?.()
  }

  #forget(call: QueuedCall): void {
    clearTimeout(call.timer)
    if (call.signal) this.#aborts.forget(call.signal, call)
  }

  #mustHaveRoom(priority: number): void {
    const { maxQueued, maxWait } = this.#policy
    const tooMany = this.#line.size + 1 - maxQueued
    // who could go if there were a token does not count
    if (tooMany > 0 && !this.#couldGo(tooMany))
      throw new TokenlaneError(
        'QUEUE_FULL',
        `Cannot queue call: ${maxQueued} calls wait for ${this.#api} already (\`maxQueued\`)`,
      )
    if (maxWait === undefined) return
    const place = this.#line.ahead(priority) + 1
    if (this.#limiter.forecast(place, 0, this.#pausedUntil) > maxWait) throw this.#timeout()
  }

  /** Whether limits and slots have room for so many calls now. */
  #couldGo(calls: number): boolean {
    if (calls > this.#policy.concurrency - this.#running) return false
    return this.#limiter.forecast(calls, 0, this.#pausedUntil) === 0
  }

  #progress(): { queued: number; emptyIn: number } {
    return { queued: this.#line.size, emptyIn: this.#emptyIn() }
  }

  /** Milliseconds until the last in line goes, by the limits, the slots and what calls took until now. */
  #emptyIn(): number {
    const { size } = this.#line
    if (size === 0) return 0
    const byLimits = this.#limiter.forecast(size, this.#roundTrip.value, this.#pausedUntil)
    const { concurrency } = this.#policy
    if (concurrency === Infinity) return byLimits
    const ends = size - (concurrency - this.#running)
    const pause = Math.max(0, this.#pausedUntil - performance.now())
    return Math.max(byLimits, pause + (ends / concurrency) * this.#slotTime.value)
  }

  #timeout(): TokenlaneError {
    return new TokenlaneError(
      'QUEUE_TIMEOUT',
      `Cannot send call: it waits longer than ${this.#policy.maxWait} ms for ${this.#api} (\`maxWait\`)`,
    )
  }
}

function isTurn(value: unknown): value is Turn {
  return typeof value === 'object'
}

function delayOf(ms: number): number {
  return Math.min(Math.max(1, Math.round(ms)), longestTimer)
}

function fromNow(ms: number): string {
  return new Date(Math.min(Date.now() + ms, longestDate)).toISOString()
}
