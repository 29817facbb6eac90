import { closedError, TokenlaneError } from '../errors.ts'
import type { CallWaits, Emit } from '../events.ts'
import { has } from '../options/check.ts'
import { Countdown } from '../time/countdown.ts'
import { dateFromNow, queueTimer } from '../time/duration.ts'
import type { AccessToken } from '../access-token.ts'
import type { Budget, BudgetQueue, LimitsStatus, Obstacle as LimitObstacle } from '../limits/budget.ts'
import type { ResponseHead } from '../limits/rate-limit-headers.ts'
import type { RefusedCall } from '../limits/refusals.ts'
import type { CheckedPolicy } from '../limits/rate-policy.ts'
import type { Demand } from '../limits/demand.ts'
import type { Lane, QueuedCall, RunningCall } from './lane.ts'
import { checkPriority, QueuedCalls } from './queued-calls.ts'
import { WaitingTime } from './waiting-time.ts'

interface NeededToken {
  live(): AccessToken | undefined
  wait(signal: undefined): Promise<AccessToken>
  /** Why the last try to get one failed, until one succeeds. */
  readonly failure: { readonly reason: string; readonly error: TokenlaneError } | undefined
}

export interface QueueOptions {
  readonly api: string
  readonly policy: CheckedPolicy
  readonly emit: Emit
  /** What the API allows, which other queues may share. */
  readonly budget: Budget
  readonly token: NeededToken
}

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
  /** What the queued calls wait for: see `CallWaits`. With `slot`, `concurrency` calls are under way and none has ended. */
  readonly waitsFor?: keyof CallWaits
}

/** Why no call can be sent now, and for how many milliseconds; `Infinity`: until something changes. */
type Obstacle = LimitObstacle | { readonly cause: keyof CallWaits; readonly ms: number }

const noSlot: Obstacle = { cause: 'slot', ms: Infinity }
/** Slots are blocked if none becomes free for this long while calls wait for one, in milliseconds. */
const blockedAfter = 10_000

/**
 * The queue in front of one API with a rate policy.
 *
 * First it finds out whether a call can be sent now (slot, pause, live token, limits), then which one: the first of the
 * calls that are queued at that moment.
 */
export class ApiQueue implements BudgetQueue {
  readonly #api: string
  readonly #token: QueueOptions['token']
  readonly emit: Emit
  readonly #budget: Budget
  readonly #calls: QueuedCalls
  #plain: Demand
  readonly waitingTime: WaitingTime = new WaitingTime()
  policy: CheckedPolicy
  readonly refused: ReadonlySet<QueuedCall>
  #running = 0
  /** How long calls held their slots, in milliseconds: a moving average. */
  #slotTime = 0
  /** Whether calls are being sent, or may not be sent yet. */
  #isServing = false
  #isRenewing = false
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Set while calls wait for a slot and none becomes free: it says so once. */
  #watch: Countdown | undefined

  constructor(options: QueueOptions) {
    const { api, policy, token, emit, budget } = options
    this.#api = api
    this.policy = policy
    this.#token = token
    this.emit = emit
    this.#budget = budget
    this.#plain = budget.claims.demands.plain
    this.#calls = new QueuedCalls(
      (maxWait) => this.#tooLong(maxWait, `waited too long (cause: ${this.waitingTime.cause})`),
      (demand) => {
        this.#noWaiters(demand)
        this.serve()
      },
    )
    this.refused = this.#calls.refused
    budget.join(this)
  }

  /**
   * Returns a call once it is admitted; synchronously if it need not wait. Throws `QUEUE_FULL`, `QUEUE_TIMEOUT`, the error
   * of the failed renewal, or the signal's reason.
   */
  enter<Call extends QueuedCall>(call: Call, signal: AbortSignal | undefined): Call | Promise<Call> {
    const { priority = 0 } = call.options
    if (priority !== 0) checkPriority(priority)
    const demand = this.#budget.claims.demands.of(call.options, this.policy)
    const mayGoNow = this.#calls.size === 0 && !this.#isServing
    const running = mayGoNow ? this.#next(demand, 1) : undefined
    if (running !== undefined && !has(running, 'cause')) {
      if (this.emit.isObserved) this.#reportSent(0)
      call.admitted(running)
      return call
    }
    call.options.mustBeRight?.()
    const refusal = call.sentBefore ? undefined : this.#refusalOf(priority, demand)
    if (refusal !== undefined) {
      this.#noWaiters(demand)
      throw refusal
    }
    const waiting = this.#calls.add(call, signal, demand, this.policy)
    if (this.emit.isObserved) this.emit({ type: 'call.queued', api: this.#api, ...this.#length() })
    this.serve()
    return waiting
  }

  /**
   * Reads the response to a call, and returns what `judging` makes of it. No other call is sent meanwhile: it would get
   * the token that was refused.
   */
  answered<Head extends ResponseHead, T>(
    call: RunningCall,
    response: Head,
    judging: { judge(response: Head, isLimited: boolean): T },
  ): T {
    const wasServing = this.#isServing
    this.#isServing = true
    try {
      return judging.judge(response, this.#budget.responded(this, call.unit, response))
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
    this.#watch?.stop()
    this.#watch = undefined
    this.#budget.ended(call.unit, wasSent)
    this.serve()
  }

  /** Lifts a pause, for every process that shares the limiter. */
  resume(): void {
    this.#budget.restraint.resume()
    this.serve()
  }

  setPolicy(policy: CheckedPolicy): void {
    this.policy = policy
    this.#budget.setPolicy(policy)
    this.serve()
  }

  /** Refuses all queued calls except those that a refused token sent back. */
  close(error: TokenlaneError): void {
    this.#refuseAll(error, { stay: true })
    this.serve()
  }

  async end(): Promise<void> {
    await this.#budget.leave(this)
  }

  /** Sends queued calls for as long as that is possible, and sees to it that this goes on. */
  serve(waitedFor?: AccessToken): void {
    // an observer, or the limiter, that changes something while calls are sent: the loop below sees it
    if (this.#isServing || this.#calls.size === 0) return
    clearTimeout(this.#timer)
    let token = waitedFor
    let obstacle: Obstacle | undefined
    this.#isServing = true
    try {
      while (this.#calls.size > 0 && obstacle === undefined) {
        obstacle = this.#serveOne(token)
        // only for the call that waited for it: the others may get a newer one
        token = undefined
      }
    } finally {
      this.#isServing = false
    }
    this.#wait(obstacle)
  }

  get mustWait(): boolean {
    return this.#calls.size > 0 || this.#freeSlots <= 0 || this.#budget.forecast(this, 1) > 0
  }

  get isPausedTooLong(): boolean {
    const { maxWait = Infinity } = this.policy
    return this.#budget.restraint.pauses.until - performance.now() > maxWait
  }

  givesUp(call: RefusedCall): boolean {
    return this.#budget.restraint.givesUp(call, this.policy.maxWait)
  }

  /** Ends the wait of a refused call: its caller gets the response that refused it. */
  giveUp(call: QueuedCall): void {
    this.#calls.giveUp(call, closedError(this.#api, this.#api))
  }

  status(): QueueStatus {
    const { queued, emptyIn } = this.#length()
    return {
      queued,
      running: this.#running,
      ...this.#budget.status(),
      ...(queued > 0 && {
        emptyAt: dateFromNow(emptyIn),
        waitsFor: this.waitingTime.cause as keyof CallWaits,
      }),
    }
  }

  get #freeSlots(): number {
    return this.policy.concurrency - this.#running
  }

  /**
   * Returns what the next call needs to be sent, or what stands in its way.
   *
   * @param queued how many calls could be sent, if nothing stood in their way.
   * @param waitedFor the token that a renewal just returned. It is used even if it is past its floor, because no better
   * one exists.
   */
  #next(demand: Demand, queued: number, waitedFor?: AccessToken): RunningCall | Obstacle {
    const freeSlots = this.policy.concurrency - this.#running
    if (freeSlots <= 0) return noSlot
    const now = performance.now()
    const { restraint } = this.#budget
    const pause = restraint.pauses.isOpen ? 0 : restraint.pausedFor(now)
    if (pause > 0) return { cause: 'pause', ms: pause }
    const token = this.#token.live() ?? waitedFor
    if (token === undefined) return { cause: 'token', ms: Infinity }
    const unit = this.#budget.take(this, demand, now, Math.min(queued, freeSlots))
    if (has(unit, 'cause')) return unit
    this.#running += 1
    return { token, unit }
  }

  /**
   * Sends the next call, or returns what stands in its way. A call whose limit is full lets others go that do not count
   * towards it.
   */
  #serveOne(token: AccessToken | undefined): Obstacle | undefined {
    if (this.#plain !== this.#budget.claims.demands.plain) this.#requeue()
    const { only } = this.#calls
    if (only !== undefined) {
      const next = this.#next(only.demand, only.size, token)
      if (has(next, 'cause')) return next
      this.#send(only, next)
      return undefined
    }
    const full = new Set<string | undefined>()
    let obstacle: Obstacle | undefined
    const { lanes } = this.#calls
    for (const lane of lanes) {
      const { demand, size } = lane
      if (full.size > 0 && demand.series.some((series) => series !== undefined && full.has(series))) continue
      const next = this.#next(demand, size, token)
      if (!has(next, 'cause')) {
        this.#send(lane, next)
        return undefined
      }
      if (next.cause !== 'limit') return next
      if (obstacle === undefined || next.ms < obstacle.ms) obstacle = next
      for (const series of this.#budget.inUse.fullSeries(demand, performance.now())) full.add(series)
    }
    return obstacle
  }

  #requeue(): void {
    const { demands } = this.#budget.claims
    this.#plain = demands.plain
    this.#budget.gaveUp(this)
    this.#calls.requeue((call) => demands.of(call, this.policy), this.policy)
  }

  #send(lane: Lane, running: RunningCall): void {
    const call = this.#calls.next(lane)
    call.admitted(running)
    call.send?.(call)
    if (this.emit.isObserved) this.#reportSent(running.unit.sentAt - call.queuedAt)
  }

  #reportSent(waited: number): void {
    this.emit({ type: 'call.sent', api: this.#api, waited, ...this.#length() })
  }

  #wait(obstacle: Obstacle | undefined): void {
    this.waitingTime.waitFor(obstacle?.cause)
    if (obstacle === noSlot) this.#watch ??= new Countdown(blockedAfter, () => this.#reportBlocked()).unref()
    if (obstacle === undefined) return
    if (obstacle.cause === 'token') {
      this.#budget.gaveUp(this)
      void this.#renew()
    }
    // a timer that fires early finds out, and waits again
    else if (obstacle.ms < Infinity) this.#timer = queueTimer(obstacle.ms, () => this.serve())
  }

  #reportBlocked(): void {
    const queued = this.#calls.size
    if (queued > 0) this.emit({ type: 'slots.blocked', api: this.#api, running: this.#running, queued })
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
  #refusalOf(priority: number, demand: Demand): TokenlaneError | undefined {
    const api = this.#api
    const { maxQueued, maxWait } = this.policy
    const tooMany = this.#calls.size + 1 - maxQueued
    if (tooMany > 0 && (tooMany > this.#freeSlots || this.#budget.forecast(this, tooMany, demand) > 0))
      return new TokenlaneError(
        'QUEUE_FULL',
        `Cannot send call to ${api}: the queue is full; \`maxQueued\` in its rate policy is ${maxQueued}`,
        { api },
      )
    if (maxWait === undefined) return undefined
    const wait = this.#budget.forecast(this, this.#calls.ahead(priority, demand) + 1, demand)
    const why = this.#budget.restraint.pauses.until > performance.now() ? ': the API is paused' : ''
    return wait > maxWait
      ? this.#tooLong(maxWait, `must wait at least ${Math.ceil(wait)} ms${why}`)
      : undefined
  }

  /** Returns the error of a call that waits longer than it may, with what has failed meanwhile. */
  #tooLong(maxWait: number, what: string): TokenlaneError {
    const token = this.waitingTime.cause === 'token' ? this.#token.failure : undefined
    const { failure } = this.#budget
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

  /** Tells the budget if no call waits for it any more, and no call is waited for if none is left. */
  #noWaiters(demand?: Demand): void {
    if (this.#calls.size === 0) {
      clearTimeout(this.#timer)
      this.#wait(undefined)
      this.#budget.gaveUp(this)
    } else if (demand !== undefined && !this.#calls.have(demand)) this.#budget.gaveUp(this, demand)
  }

  #length(): { queued: number; emptyIn: number } {
    const queued = this.#calls.size
    if (queued === 0) return { queued, emptyIn: 0 }
    const { inUse } = this.#budget
    const waits = this.#calls.waiting.map(({ units, demand }) =>
      this.#budget.forecast(this, units, demand, inUse.of(demand).lag),
    )
    const emptyIn = Math.max(0, ...waits)
    const withoutSlot = queued - this.#freeSlots
    if (withoutSlot <= 0) return { queued, emptyIn }
    const pause = Math.max(0, this.#budget.restraint.pauses.until - performance.now())
    const bySlots = pause + (withoutSlot / this.policy.concurrency) * this.#slotTime
    return { queued, emptyIn: Math.max(emptyIn, bySlots) }
  }
}
