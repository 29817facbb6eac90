import { PriorityQueue } from 'p-queue'
import type { TokenlaneError } from '../errors.ts'
import { refusingTo } from '../options/check.ts'
import { fitting, type Reader } from '../options/reader.ts'
import { Countdown } from '../time/countdown.ts'
import type { AccessToken } from '../access-token.ts'
import type { ResendReason } from '../events.ts'
import type { Unit } from '../limits/restraint.ts'
import type { AskingCall, Demand } from '../limits/demand.ts'
import type { CheckedPolicy } from '../limits/rate-policy.ts'

/** What a call holds while it is under way: a live token, a unit of every limit, and a slot until it ends. */
export interface RunningCall {
  readonly token: AccessToken
  readonly unit: Unit
}

interface CallToQueue extends AskingCall {
  /** Higher goes first; equal ones go in order. */
  readonly priority?: number | undefined
  /** Throws for a call that its client would refuse. */
  readonly mustBeRight?: (() => void) | undefined
}

/** A call that may be queued, and its place while it is. */
export interface QueuedCall {
  readonly options: CallToQueue
  /** Whether it was sent before: then it goes first and is never refused, but at the end for its limit. */
  readonly sentBefore: boolean
  /** Why it is sent again: a manager that closes does not wait for one that was refused for the API's limit. */
  readonly resend: ResendReason | undefined
  /** Gets what it holds from now on: it is sent. */
  admitted(running: RunningCall): void
  /** Returns what it fails with if it is not sent. */
  refused(reason: unknown): unknown

  /** In whole milliseconds: a part of one would be an object of its own for each call. */
  queuedAt: number
  /** What ends its wait early. */
  signal: AbortSignal | undefined
  lane: Lane | undefined
  /** Higher goes first: its priority, and what it gains while it waits. */
  rank: number
  /** How long it may wait in all. */
  countdown: Countdown | undefined
  /** Ends its wait. */
  send: ((call: this | Promise<never>) => void) | undefined
}

function refuse(call: QueuedCall, reason: unknown): void {
  call.send?.(Promise.reject(call.refused(reason)))
}

/** How long calls wait, in milliseconds: at most, and for each priority that they gain. */
type QueueTimes = Pick<CheckedPolicy, 'maxWait' | 'aging'>

const noTimes: QueueTimes = { maxWait: undefined, aging: undefined }

/** An estimate looks at this many limits at most: there may be one for each customer. */
const mostEstimated = 10

/** Returns what takes one unit of one of the limits of a demand. */
function takingOne(series: string, demand: Demand): Demand {
  const only = demand.series.map((each) => (each === series ? each : undefined))
  return { key: `1 ${JSON.stringify(only)}`, cost: 1, series: only }
}

const first = Number.MAX_SAFE_INTEGER

export const readPriority: Reader<number> = fitting(
  (value) => Number.isSafeInteger(value) && value !== first,
  'a whole number',
)

/** @throws TokenlaneError `INVALID_OPTIONS` */
export function checkPriority(priority: unknown): void {
  refusingTo('send call', () => readPriority(priority, 'priority'))
}

/** What is used of p-queue's queue, whose own types say that it calls what it holds, and name types of browsers. */
interface CallsInOrder {
  readonly size: number
  enqueue(call: QueuedCall, options: { readonly priority: number }): void
  dequeue(): QueuedCall | undefined
  remove(call: QueuedCall): void
}

/** The queued calls that take the same: where their units are not free, those of others may be. */
export interface Lane {
  readonly demand: Demand
  readonly calls: CallsInOrder
  readonly countByPriority: Map<number, number>
  /** When a call of it was sent last. */
  servedAt: number
}

/** The queued calls of one API, in order, and what ends their wait early: an abort, or `maxWait`. */
export class QueuedCalls {
  readonly #tooLong: (maxWait: number) => TokenlaneError
  readonly #gaveUp: (demand: Demand) => void
  readonly #lanes = new Map<string, Lane>()
  size = 0
  #served = 0
  /** Calls with one signal share a listener: one of many would have to be searched for when it is removed. */
  readonly #bySignal = new Map<AbortSignal, Set<QueuedCall>>()

  /**
   * @param tooLong returns the error of a call that has waited for `maxWait` milliseconds.
   * @param gaveUp is called after a call gave up.
   */
  constructor(tooLong: (maxWait: number) => TokenlaneError, gaveUp: (demand: Demand) => void) {
    this.#tooLong = tooLong
    this.#gaveUp = gaveUp
  }

  /** Returns how many calls that take the same go before one of this priority that is added now. */
  ahead(priority: number, { key }: Demand): number {
    let ahead = 0
    for (const [other, count] of this.#lanes.get(key)?.countByPriority ?? [])
      if (other >= priority) ahead += count
    return ahead
  }

  have({ key }: Demand): boolean {
    return this.#lanes.has(key)
  }

  /** The lane of all calls, if they take the same. */
  get only(): Lane | undefined {
    const [lane] = this.#lanes.values()
    return this.#lanes.size === 1 ? lane : undefined
  }

  /** How many units the queued calls take of the limits that they wait for most. */
  get waiting(): { readonly units: number; readonly demand: Demand }[] {
    const { only } = this
    if (only !== undefined) return [{ units: this.size, demand: only.demand }]
    const units = new Map<string, { units: number; demand: Demand }>()
    for (const { demand, calls } of this.#lanes.values())
      for (const series of new Set(demand.series)) {
        if (series === undefined) continue
        const all = units.get(series) ?? { units: 0, demand: takingOne(series, demand) }
        all.units += calls.size * demand.cost
        units.set(series, all)
      }
    return [...units.values()].toSorted((a, b) => b.units - a.units).slice(0, mostEstimated)
  }

  /** The lanes, the one that goes first in front: by priority, and in turn. */
  get lanes(): Lane[] {
    const lanes = [...this.#lanes.values()]
    if (lanes.length < 2) return lanes
    const highest = new Map(lanes.map((lane) => [lane, Math.max(...lane.countByPriority.keys())]))
    return lanes.toSorted((a, b) => (highest.get(b) ?? 0) - (highest.get(a) ?? 0) || a.servedAt - b.servedAt)
  }

  /** Adds a call that waits for `maxWait` milliseconds at most, or until its signal aborts. */
  add<Call extends QueuedCall>(
    call: Call,
    signal: AbortSignal | undefined,
    demand: Demand,
    times: QueueTimes,
  ): Promise<Call> {
    call.signal = signal
    call.queuedAt = Math.round(performance.now())
    return new Promise((send) => {
      call.send = send
      this.#enqueue(call, this.#laneOf(demand), times)
    })
  }

  #laneOf(demand: Demand): Lane {
    const known = this.#lanes.get(demand.key)
    if (known !== undefined) return known
    const lane = {
      demand,
      calls: new PriorityQueue() as unknown as CallsInOrder,
      countByPriority: new Map<number, number>(),
      servedAt: this.#served,
    }
    this.#lanes.set(demand.key, lane)
    return lane
  }

  next(lane: Lane): QueuedCall {
    const call = lane.calls.dequeue() as QueuedCall
    this.#served += 1
    lane.servedAt = this.#served
    this.#forget(call)
    return call
  }

  /** Refuses all calls, but not those that were sent before for another reason than a limit, if they `stay`. */
  refuseAll(reason: unknown, { stay }: { readonly stay: boolean }): void {
    for (const call of this.#takeAll()) {
      if (stay && call.sentBefore && call.resend !== 'limited')
        this.#enqueue(call, call.lane as Lane, noTimes)
      else refuse(call, reason)
    }
  }

  /** Queues each call again, from when it was queued first, under other limits. @param demandOf throws for one that is refused. */
  requeue(demandOf: (call: AskingCall) => Demand, times: QueueTimes): void {
    for (const queued of this.#takeAll().toSorted((a, b) => a.queuedAt - b.queuedAt))
      try {
        this.#enqueue(queued, this.#laneOf(demandOf(queued.options)), times)
      } catch (error) {
        refuse(queued, error)
      }
  }

  #takeAll(): QueuedCall[] {
    return this.lanes.flatMap((lane) => Array.from({ length: lane.calls.size }, () => this.next(lane)))
  }

  #enqueue(call: QueuedCall, lane: Lane, { maxWait, aging }: QueueTimes): void {
    const { signal, sentBefore, queuedAt } = call
    const { priority = 0 } = call.options
    call.lane = lane
    // it may have been emptied since
    this.#lanes.set(lane.demand.key, lane)
    // calls that gain priority while they wait keep their order
    call.rank = sentBefore ? first : aging === undefined ? priority : priority - queuedAt / aging
    lane.calls.enqueue(call, { priority: call.rank })
    this.#count(lane, call.rank, 1)
    if (signal) this.#watch(signal, call)
    if (maxWait === undefined || sentBefore) return
    const giveUp = (): void => this.#giveUp(call, this.#tooLong(maxWait))
    const waited = call.countdown?.spent ?? performance.now() - queuedAt
    call.countdown = new Countdown(maxWait, giveUp, waited)
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
    const { calls, demand } = call.lane as Lane
    calls.remove(call)
    this.#forget(call)
    refuse(call, reason)
    this.#gaveUp(demand)
  }

  #forget(call: QueuedCall): void {
    const { rank, signal, countdown, lane } = call
    this.#count(lane as Lane, rank, -1)
    countdown?.stop()
    if (signal === undefined) return
    const calls = this.#bySignal.get(signal)
    if (!calls?.delete(call) || calls.size > 0) return
    this.#bySignal.delete(signal)
    signal.removeEventListener('abort', this.#aborted)
  }

  #count({ demand, calls, countByPriority }: Lane, priority: number, change: 1 | -1): void {
    this.size += change
    const count = (countByPriority.get(priority) ?? 0) + change
    if (count > 0) countByPriority.set(priority, count)
    else countByPriority.delete(priority)
    if (calls.size === 0) this.#lanes.delete(demand.key)
  }
}
