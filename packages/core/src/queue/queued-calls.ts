import type { AccessToken } from '../token/access-token.ts'
import { waitedTooLong } from './admission.ts'
import type { SentCall } from './api-pauses.ts'
import { queueTimer } from './queue-timer.ts'
import type { Permit } from './rate-limiter.ts'
import { SharedAbort } from './shared-abort.ts'
import { WaitingCalls, type Waiter } from './waiting-calls.ts'

/** What a call holds while it may send: a live token, a permit, and a slot until it leaves the queue. */
export interface Turn extends SentCall {
  readonly token: AccessToken
  readonly permit: Permit
}

/** How a call wants to wait. */
export interface EnterOptions {
  readonly signal: AbortSignal | undefined
  /** Higher goes first; equal ones go in order. */
  readonly priority: number
  /** Whether the call was sent before: then it goes first and is never refused. */
  readonly resend: boolean
}

/** The queued calls of one API in order, and what ends their wait: a turn, an abort, or `maxWait`. */
export class QueuedCalls {
  readonly #api: string
  readonly #gaveUp: (call: QueuedCall) => void
  readonly #calls = new WaitingCalls<QueuedCall>()
  /** Made for the first signal, since a process may have many queues. */
  #aborts: SharedAbort<QueuedCall> | undefined

  /** @param gaveUp is called after a call has left that gave up. */
  constructor(api: string, gaveUp: (call: QueuedCall) => void) {
    this.#api = api
    this.#gaveUp = gaveUp
  }

  get size(): number {
    return this.#calls.size
  }

  /** Returns how many calls go before one of this priority that joins now. */
  ahead(priority: number): number {
    return this.#calls.ahead(priority)
  }

  /** Adds a call that waits for `maxWait` milliseconds at most. */
  add(call: QueuedCall, maxWait: number | undefined): void {
    this.#calls.add(call)
    if (call.signal) this.#watch(call.signal, call)
    if (maxWait !== undefined) this.#limit(call, maxWait)
  }

  /** Takes out the call that goes next. */
  next(): QueuedCall {
    const call = this.#calls.next() as QueuedCall
    this.#forget(call)
    return call
  }

  /** Refuses a call that waits no longer. */
  giveUp(call: QueuedCall, reason: unknown): void {
    this.#calls.leave(call)
    this.#end(call, reason)
    this.#gaveUp(call)
  }

  /** Refuses all calls but those that `stay`. Returns the refused ones. */
  refuse(reason: unknown, stay: (call: QueuedCall) => boolean = () => false): QueuedCall[] {
    const [staying, refused]: [QueuedCall[], QueuedCall[]] = [[], []]
    for (const call of this.#calls.clear()) (stay(call) ? staying : refused).push(call)
    for (const call of staying) this.#calls.add(call)
    for (const call of refused) this.#end(call, reason)
    return refused
  }

  /** Lets calls wait for that long from when they came, in milliseconds. */
  limitWaits(maxWait: number | undefined): void {
    for (const call of this.#calls.clear()) {
      this.#calls.add(call)
      clearTimeout(call.timer)
      if (maxWait !== undefined) this.#limit(call, maxWait)
    }
  }

  #limit(call: QueuedCall, maxWait: number): void {
    if (call.resend) return
    const left = call.enteredAt + maxWait - performance.now()
    call.timer = queueTimer(left, () => this.giveUp(call, waitedTooLong(this.#api, maxWait)))
  }

  #watch(signal: AbortSignal, call: QueuedCall): void {
    this.#aborts ??= new SharedAbort((each, reason) => this.giveUp(each, reason))
    this.#aborts.watch(signal, call)
  }

  #end(call: QueuedCall, reason: unknown): void {
    this.#forget(call)
    call.reject(reason)
    call.clear()
  }

  #forget(call: QueuedCall): void {
    clearTimeout(call.timer)
    if (call.signal) this.#aborts?.forget(call.signal, call)
  }
}

/** Before every priority that a caller can give. */
const first = Number.MAX_SAFE_INTEGER

/** A call that waits for its turn. */
export class QueuedCall implements Waiter {
  readonly priority: number
  readonly resend: boolean
  signal: AbortSignal | undefined
  resolve: (turn: Turn) => void
  reject: (reason: unknown) => void
  readonly enteredAt: number = performance.now()
  timer: ReturnType<typeof setTimeout> | undefined
  gone = false

  constructor(
    { priority, resend, signal }: EnterOptions,
    resolve: (turn: Turn) => void,
    reject: (reason: unknown) => void,
  ) {
    this.priority = resend ? first : priority
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
