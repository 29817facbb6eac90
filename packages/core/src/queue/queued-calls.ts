import type { TokenlaneError } from '../errors.ts'
import { refusingTo } from '../options/check.ts'
import { fitting, type Reader } from '../options/reader.ts'
import { Countdown } from '../time/countdown.ts'
import type { AskingCall, Demand } from '../limits/demand.ts'
import type { CheckedPolicy } from '../limits/rate-policy.ts'
import { Lane, type QueuedCall } from './lane.ts'

function refuse(call: QueuedCall, reason: unknown): void {
  call.send?.(Promise.reject(call.refused(reason)))
}

/** How long calls wait, in milliseconds: at most, and for each priority that they gain. */
type QueueTimes = Pick<CheckedPolicy, 'maxWait' | 'aging'>

const noTimes: QueueTimes = { maxWait: undefined, aging: undefined }

/** An estimate looks at this many limits at most: there may be one for each customer. */
const mostEstimated = 10

function takingOne(series: string, demand: Demand): Demand {
  const only = demand.series.map((each) => (each === series ? each : undefined))
  return { key: `1 ${JSON.stringify(only)}`, cost: 1, series: only }
}

const first = Number.MAX_SAFE_INTEGER

export const readPriority: Reader<number> = fitting(
  (value) => Number.isSafeInteger(value) && value !== first,
  'a whole number',
)

export function checkPriority(priority: unknown): void {
  refusingTo('send call', () => readPriority(priority, 'priority'))
}

/** The queued calls of one API, in order, and what ends their wait early: an abort, or `maxWait`. */
export class QueuedCalls {
  readonly #tooLong: (maxWait: number) => TokenlaneError
  readonly #gaveUp: (demand: Demand) => void
  readonly #lanes = new Map<string, Lane>()
  size = 0
  #served = 0
  /** Those that the API has refused for its limit. */
  readonly refused: Set<QueuedCall> = new Set()
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
    return this.#lanes.get(key)?.ahead(priority) ?? 0
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
    for (const { demand, size } of this.#lanes.values())
      for (const series of new Set(demand.series)) {
        if (series === undefined) continue
        const all = units.get(series) ?? { units: 0, demand: takingOne(series, demand) }
        all.units += size * demand.cost
        units.set(series, all)
      }
    return [...units.values()].toSorted((a, b) => b.units - a.units).slice(0, mostEstimated)
  }

  /** The lanes, the one that goes first in front: by priority, and in turn. */
  get lanes(): Lane[] {
    return [...this.#lanes.values()].toSorted((a, b) => b.rank - a.rank || a.servedAt - b.servedAt)
  }

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
    const lane = new Lane(demand, this.#served)
    this.#lanes.set(demand.key, lane)
    return lane
  }

  next(lane: Lane): QueuedCall {
    const call = lane.next()
    this.#served += 1
    lane.servedAt = this.#served
    this.#forget(call, lane)
    return call
  }

  /** Refuses all calls; with `stay` not those that are sent again, unless for a limit. */
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
    return this.lanes.flatMap((lane) => Array.from({ length: lane.size }, () => this.next(lane)))
  }

  #enqueue(call: QueuedCall, lane: Lane, { maxWait, aging }: QueueTimes): void {
    const { signal, sentBefore, queuedAt } = call
    const { priority = 0 } = call.options
    call.lane = lane
    // it may have been emptied since
    this.#lanes.set(lane.demand.key, lane)
    // calls that gain priority while they wait keep their order
    call.rank = sentBefore ? first : aging === undefined ? priority : priority - queuedAt / aging
    lane.add(call)
    this.size += 1
    if (call.resend === 'limited') this.refused.add(call)
    if (signal) this.#watch(signal, call)
    if (maxWait === undefined || sentBefore) return
    const giveUp = (): void => this.giveUp(call, this.#tooLong(maxWait))
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
    for (const call of this.#bySignal.get(signal) ?? []) this.giveUp(call, signal.reason)
  }

  giveUp(call: QueuedCall, reason: unknown): void {
    const lane = call.lane as Lane
    lane.remove(call)
    this.#forget(call, lane)
    refuse(call, reason)
    this.#gaveUp(lane.demand)
  }

  #forget(call: QueuedCall, { size, demand }: Lane): void {
    const { signal, countdown } = call
    this.size -= 1
    this.refused.delete(call)
    if (size === 0) this.#lanes.delete(demand.key)
    countdown?.stop()
    if (signal === undefined) return
    const calls = this.#bySignal.get(signal)
    if (!calls?.delete(call) || calls.size > 0) return
    this.#bySignal.delete(signal)
    signal.removeEventListener('abort', this.#aborted)
  }
}
