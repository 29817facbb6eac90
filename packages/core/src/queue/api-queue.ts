import type { TokenlaneError } from '../errors.ts'
import type { CallWaits, Emit } from '../events.ts'
import { dateFromNow } from '../time/finite-duration.ts'
import { isRequestBound } from '../runtime/request-bound.ts'
import type { AccessToken } from '../token/access-token.ts'
import type { CurrentToken } from '../token/renewing-token.ts'
import { isBounded, mustHaveRoom } from './admission.ts'
import { checkPriority } from './call-options.ts'
import { Delivery, HeldByRequests } from './held-by-requests.ts'
import { queueTimer } from './queue-timer.ts'
import { type EnterOptions, QueuedCall, QueuedCalls, type Turn } from './queued-calls.ts'
import type { ResponseHead } from './rate-limit-headers.ts'
import type { CheckedPolicy } from './rate-policy.ts'
import { type NotYet, type QueueOptions, Turns } from './turns.ts'
import { WaitingTime } from './waiting-time.ts'

/** The queue in a snapshot. */
export interface QueueStatus {
  readonly queued: number
  readonly running: number
  readonly quotaUsed?: number
  readonly quotaLeft?: number
  readonly pausedUntil?: string
  readonly emptyAt?: string
}

/**
 * The queue in front of one API with a rate policy.
 *
 * First it finds out when the next call may go (slot, live token, permit), then which call: the first one that is queued
 * at that moment.
 */
export class ApiQueue {
  readonly #api: string
  #policy: CheckedPolicy
  readonly #token: CurrentToken
  readonly #emit: Emit
  readonly #turns: Turns
  readonly #calls: QueuedCalls
  readonly #waitingTime = new WaitingTime()
  /** Only in a runtime that ends what calls hold together with their incoming request. */
  readonly #held: HeldByRequests<QueuedCall | Turn | Renewal> | undefined
  #renewing: Renewal | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: QueueOptions) {
    const { api, policy, token, emit } = options
    this.#api = api
    this.#policy = policy
    this.#token = token
    this.#emit = emit
    this.#held = isRequestBound() ? new HeldByRequests() : undefined
    this.#calls = new QueuedCalls(api, (call) => this.#gaveUp(call))
    this.#turns = new Turns(options, () => this.serve())
  }

  /** Returns a turn for a call that need not wait, `undefined` where it must. */
  enterNow(priority: number): Turn | undefined {
    checkPriority(priority, 'priority')
    if (this.#held !== undefined) this.#takeBack(this.#held)
    const turn = this.#calls.size === 0 ? this.#turns.take(0) : undefined
    if (!isTurn(turn)) return undefined
    if (this.#held !== undefined) this.#hold(this.#held, turn)
    if (this.#emit?.isObserved)
      this.#emit({ type: 'call.sent', api: this.#api, waited: 0, queued: 0, emptyIn: 0 })
    return turn
  }

  /**
   * Waits for a turn.
   *
   * @throws TokenlaneError `QUEUE_FULL`, `QUEUE_TIMEOUT`, or why there is no token; the signal's reason.
   */
  enter(options: EnterOptions): Promise<Turn> {
    try {
      if (!options.resend && isBounded(this.#policy)) {
        const backlog = this.#turns.backlog(this.#calls.size)
        mustHaveRoom(this.#api, this.#policy, backlog, this.#calls.ahead(options.priority) + 1)
      }
      return this.#queue(options)
    } catch (error) {
      this.turnedAway()
      throw error
    }
  }

  /** Notes that a call to which `enterNow` gave no turn does not wait: nothing has to look for a turn any more. */
  turnedAway(): void {
    if (this.#calls.size === 0) this.#turns.noneWaits()
  }

  /**
   * Takes the response to a call. The caller judges it for the token, and then lets the queue `serve` on.
   *
   * @returns whether the API refused the call for its limit.
   */
  answered(turn: Turn, response: ResponseHead): boolean {
    return this.#turns.answered(turn, response)
  }

  /** Gives the slot back, and the unit too if nothing was sent. */
  leave(turn: Turn, sent: boolean): void {
    // it was taken back
    if (this.#held?.remove(turn) === false) return
    this.#turns.leave(turn, sent)
    this.serve()
  }

  /** Lifts a pause that the API asked for, for every process that shares the limiter. */
  resume(): void {
    this.#turns.resume()
    this.serve()
  }

  /**
   * Keeps another policy from now on, for queued calls too.
   *
   * @throws TokenlaneError `INVALID_OPTIONS` if the shared limiter cannot.
   */
  setPolicy(policy: CheckedPolicy): void {
    this.#turns.setPolicy(policy)
    this.#policy = policy
    this.#calls.limitWaits(policy.maxWait)
    this.serve()
  }

  /** Refuses all queued calls except those that were sent before. */
  close(error: TokenlaneError): void {
    this.#refuse(error, ({ resend }) => resend)
    this.serve()
  }

  /** Ends what the limiter holds, after the last call. */
  async ended(): Promise<void> {
    await this.#turns.ended()
  }

  /** Gives turns to queued calls for as long as there are any, and sees to it that this goes on. */
  serve(waitedFor?: AccessToken): void {
    clearTimeout(this.#timer)
    if (this.#held !== undefined) this.#takeBack(this.#held)
    let token = waitedFor
    while (this.#calls.size > 0) {
      const next = this.#turns.take(this.#calls.size, token)
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

  /** Whether the API is paused for longer than a call may wait. */
  get isPausedTooLong(): boolean {
    return this.#turns.isPausedTooLong
  }

  /** As `Budget.isUnspent`. */
  get isUnspent(): boolean {
    return this.#turns.isUnspent
  }

  status(): QueueStatus {
    const queued = this.#calls.size
    return {
      queued,
      ...this.#turns.status(),
      ...(queued > 0 && { emptyAt: dateFromNow(this.#turns.emptyIn(queued)) }),
    }
  }

  #queue(options: EnterOptions): Promise<Turn> {
    if (this.#held === undefined)
      return new Promise((resolve, reject) => {
        this.#add(new QueuedCall(options, resolve, reject))
      })
    const delivery = new Delivery<Turn>()
    const call = new QueuedCall(options, delivery.resolve, delivery.reject)
    this.#held.add(call)
    this.#add(call)
    return delivery.arrival(() => this.serve())
  }

  #add(call: QueuedCall): void {
    this.#calls.add(call, this.#policy.maxWait)
    if (this.#emit?.isObserved) this.#emit({ type: 'call.queued', api: this.#api, ...this.#length() })
    this.serve()
  }

  #waitFor(next: NotYet): void {
    this.#waitingTime.waitFor(this.#turns.causeOf(next))
    // an observer that made a call when one was sent has let the queue serve meanwhile
    clearTimeout(this.#timer)
    if (next === 'token') void this.#renew()
    // a timer that fires early finds out and waits again; with Infinity, a response or a call that leaves serves on
    else if (next < Infinity && this.#held === undefined) this.#timer = queueTimer(next, () => this.serve())
  }

  #hand(turn: Turn): void {
    const call = this.#calls.next()
    this.#held?.exchange(call, turn)
    call.resolve(turn)
    if (!this.#emit?.isObserved) return
    const waited = turn.takenAt - call.enteredAt
    this.#emit({ type: 'call.sent', api: this.#api, waited, ...this.#length() })
  }

  #length(): { queued: number; emptyIn: number } {
    const queued = this.#calls.size
    return { queued, emptyIn: this.#turns.emptyIn(queued) }
  }

  async #renew(): Promise<void> {
    if (this.#renewing !== undefined) return
    const renewal: Renewal = { isRenewal: true }
    this.#renewing = renewal
    let token: AccessToken | undefined
    try {
      this.#held?.add(renewal)
      token = await this.#token.wait(undefined)
    } catch (error) {
      // one outcome for all: each by itself would ask the credentials provider anew
      this.#refuse(error)
    }
    this.#renewed(renewal)
    this.serve(token)
  }

  #renewed(renewal: Renewal): void {
    this.#held?.remove(renewal)
    if (this.#renewing === renewal) this.#renewing = undefined
  }

  #refuse(error: unknown, stay?: (call: QueuedCall) => boolean): void {
    const refused = this.#calls.refuse(error, stay)
    for (const call of refused) this.#held?.remove(call)
    if (refused.length > 0 && this.#calls.size === 0) this.#turns.noneWaits()
  }

  #gaveUp(call: QueuedCall): void {
    this.#held?.remove(call)
    if (this.#calls.size === 0) this.#turns.noneWaits()
    // the queue may be empty now
    this.serve()
  }

  /**
   * Notes that the incoming request which is handled now holds a turn.
   *
   * @throws TokenlaneError `RUNTIME_UNSUPPORTED` outside of every request; the turn is given back.
   */
  #hold(held: HeldByRequests<QueuedCall | Turn | Renewal>, turn: Turn): void {
    try {
      held.add(turn)
    } catch (error) {
      this.#turns.leave(turn, false)
      throw error
    }
  }

  /** Takes back what calls held whose incoming request the runtime has ended. */
  #takeBack(held: HeldByRequests<QueuedCall | Turn | Renewal>): void {
    for (const holding of held.lost()) {
      if (holding instanceof QueuedCall) this.#calls.giveUp(holding, undefined)
      else if ('isRenewal' in holding) this.#renewed(holding)
      else this.leave(holding, true)
    }
  }
}

/** The wait for a token that all queued calls share. */
interface Renewal {
  readonly isRenewal: true
}

function isTurn(value: unknown): value is Turn {
  return typeof value === 'object'
}
