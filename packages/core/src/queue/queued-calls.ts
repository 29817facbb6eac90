import type { AccessToken } from '../token/access-token.ts'
import { queueTimer } from '../time/timers.ts'
import { waitedTooLong } from './admission.ts'
import type { Unit } from './limits.ts'
import { SharedAbort } from './shared-abort.ts'
import { WaitingCalls } from './waiting-calls.ts'

/** What a call holds while it is under way: a live token, a unit of every limit, and a slot until it ends. */
export interface RunningCall {
  readonly token: AccessToken
  readonly unit: Unit
}

/** How a call is queued. */
export interface EnterOptions {
  readonly signal: AbortSignal | undefined
  /** Higher goes first; equal ones go in order. */
  readonly priority: number
  /** Whether the call was sent before: then it goes first and is never refused. */
  readonly sentBefore: boolean
}

/** Before every priority that a caller can give. */
const first = Number.MAX_SAFE_INTEGER

/** A call that waits. */
interface QueuedCall extends EnterOptions {
  readonly queuedAt: number
  readonly send: (call: RunningCall) => void
  readonly refuse: (reason: unknown) => void
  timer?: ReturnType<typeof setTimeout>
}

/** The queued calls of one API, and what ends their wait early: an abort, or `maxWait`. */
export class QueuedCalls {
  readonly #api: string
  readonly #gaveUp: () => void
  readonly #calls = new WaitingCalls<QueuedCall>()
  readonly #aborts = new SharedAbort<QueuedCall>((call, reason) => this.#giveUp(call, reason))

  /** @param gaveUp is called after a call gave up. */
  constructor(api: string, gaveUp: () => void) {
    this.#api = api
    this.#gaveUp = gaveUp
  }

  get size(): number {
    return this.#calls.size
  }

  /** Returns how many calls go before one of this priority that is added now. */
  ahead(priority: number): number {
    return this.#calls.ahead(priority)
  }

  /** Adds a call that waits for `maxWait` milliseconds at most, and returns what ends its wait. */
  add({ signal, priority, sentBefore }: EnterOptions, maxWait: number | undefined): Promise<RunningCall> {
    return new Promise((send, refuse) => {
      const order = sentBefore ? first : priority
      const call = { signal, priority: order, sentBefore, queuedAt: performance.now(), send, refuse }
      this.#calls.add(call)
      if (signal) this.#aborts.watch(signal, call)
      this.#limitWait(call, maxWait)
    })
  }

  /** Takes out the call that goes next. */
  next(): QueuedCall {
    const call = this.#calls.next() as QueuedCall
    this.#forget(call)
    return call
  }

  /** Refuses all calls, but not those that were sent before if they `stay`. */
  refuseAll(reason: unknown, { stay }: { readonly stay: boolean }): void {
    for (const call of this.#calls.removeAll()) {
      if (stay && call.sentBefore) this.#calls.add(call)
      else this.#end(call, reason)
    }
  }

  /** Lets each call wait for `maxWait` milliseconds from when it was queued. */
  limitWaits(maxWait: number | undefined): void {
    for (const call of this.#calls.removeAll()) {
      this.#calls.add(call)
      clearTimeout(call.timer)
      this.#limitWait(call, maxWait)
    }
  }

  #limitWait(call: QueuedCall, maxWait: number | undefined): void {
    if (maxWait === undefined || call.sentBefore) return
    const left = call.queuedAt + maxWait - performance.now()
    call.timer = queueTimer(left, () => this.#giveUp(call, waitedTooLong(this.#api, maxWait)))
  }

  #giveUp(call: QueuedCall, reason: unknown): void {
    // an abort may end several waits, and the end of one may let another of them go
    if (!this.#calls.remove(call)) return
    this.#end(call, reason)
    this.#gaveUp()
  }

  #end(call: QueuedCall, reason: unknown): void {
    this.#forget(call)
    call.refuse(reason)
  }

  #forget(call: QueuedCall): void {
    clearTimeout(call.timer)
    if (call.signal) this.#aborts.forget(call.signal, call)
  }
}
