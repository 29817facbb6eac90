import { PriorityQueue } from 'p-queue'
import type { TokenlaneError } from '../errors.ts'
import { refusingTo } from '../options/check.ts'
import { fitting, type Reader } from '../options/reader.ts'
import { queueTimer } from '../time/timers.ts'
import type { AccessToken } from '../token/access-token.ts'
import type { Unit } from './limits.ts'

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

/** The priority of calls that were sent before. */
const first = Number.MAX_SAFE_INTEGER

/** Reads a priority that a caller gives. */
export const readPriority: Reader<number> = fitting(
  (value) => Number.isSafeInteger(value) && value !== first,
  'a whole number',
)

/** @throws TokenlaneError `INVALID_OPTIONS` */
export function checkPriority(priority: unknown): void {
  refusingTo('send call', () => readPriority(priority, 'priority'))
}

/** A call that waits. */
interface QueuedCall extends EnterOptions {
  readonly queuedAt: number
  readonly send: (call: RunningCall) => void
  readonly refuse: (reason: unknown) => void
  timer?: ReturnType<typeof setTimeout>
}

/** The queued calls of one API, in order, and what ends their wait early: an abort, or `maxWait`. */
export class QueuedCalls {
  readonly #tooLong: (maxWait: number) => TokenlaneError
  readonly #gaveUp: () => void
  /** The queue of p-queue. It calls nothing that it holds here, though its types say that it could. */
  readonly #queue = new PriorityQueue()
  readonly #countByPriority = new Map<number, number>()
  /** Calls with one signal share a listener: one of many would have to be searched for when it is removed. */
  readonly #bySignal = new Map<AbortSignal, Set<QueuedCall>>()

  /**
   * @param tooLong returns the error of a call that has waited for `maxWait` milliseconds.
   * @param gaveUp is called after a call gave up.
   */
  constructor(tooLong: (maxWait: number) => TokenlaneError, gaveUp: () => void) {
    this.#tooLong = tooLong
    this.#gaveUp = gaveUp
  }

  get size(): number {
    return this.#queue.size
  }

  /** Returns how many calls go before one of this priority that is added now. */
  ahead(priority: number): number {
    let ahead = 0
    for (const [other, count] of this.#countByPriority) if (other >= priority) ahead += count
    return ahead
  }

  /** Adds a call that waits for `maxWait` milliseconds at most, and returns what ends its wait. */
  add({ signal, priority, sentBefore }: EnterOptions, maxWait: number | undefined): Promise<RunningCall> {
    return new Promise((send, refuse) => {
      const order = sentBefore ? first : priority
      const call = { signal, priority: order, sentBefore, queuedAt: performance.now(), send, refuse }
      this.#enqueue(call, maxWait)
    })
  }

  /** Takes out the call that goes next. */
  next(): QueuedCall {
    const call = this.#queue.dequeue() as unknown as QueuedCall
    this.#forget(call)
    return call
  }

  /** Refuses all calls, but not those that were sent before if they `stay`. */
  refuseAll(reason: unknown, { stay }: { readonly stay: boolean }): void {
    for (const call of this.#takeAll()) {
      if (stay && call.sentBefore) this.#enqueue(call, undefined)
      else call.refuse(reason)
    }
  }

  /** Lets each call wait for `maxWait` milliseconds from when it was queued. */
  limitWaits(maxWait: number | undefined): void {
    for (const call of this.#takeAll()) this.#enqueue(call, maxWait)
  }

  #takeAll(): QueuedCall[] {
    return Array.from({ length: this.size }, () => this.next())
  }

  #enqueue(call: QueuedCall, maxWait: number | undefined): void {
    const { priority, signal, sentBefore, queuedAt } = call
    this.#queue.enqueue(call as never, { priority })
    this.#count(priority, 1)
    if (signal) this.#watch(signal, call)
    if (maxWait === undefined || sentBefore) return
    const left = queuedAt + maxWait - performance.now()
    call.timer = queueTimer(left, () => this.#giveUp(call, this.#tooLong(maxWait)))
  }

  #watch(signal: AbortSignal, call: QueuedCall): void {
    const calls = this.#bySignal.get(signal)
    if (calls !== undefined) return void calls.add(call)
    this.#bySignal.set(signal, new Set([call]))
    signal.addEventListener('abort', this.#aborted)
  }

  readonly #aborted = ({ target }: Event): void => {
    const signal = target as AbortSignal
    // the end of one wait may let another of them go, which leaves the set
    for (const call of this.#bySignal.get(signal) ?? []) this.#giveUp(call, signal.reason)
  }

  #giveUp(call: QueuedCall, reason: unknown): void {
    this.#queue.remove(call as never)
    this.#forget(call)
    call.refuse(reason)
    this.#gaveUp()
  }

  #forget(call: QueuedCall): void {
    const { priority, signal, timer } = call
    this.#count(priority, -1)
    clearTimeout(timer)
    if (signal === undefined) return
    const calls = this.#bySignal.get(signal)
    if (!calls?.delete(call) || calls.size > 0) return
    this.#bySignal.delete(signal)
    signal.removeEventListener('abort', this.#aborted)
  }

  #count(priority: number, change: 1 | -1): void {
    const count = (this.#countByPriority.get(priority) ?? 0) + change
    if (count > 0) this.#countByPriority.set(priority, count)
    else this.#countByPriority.delete(priority)
  }
}
