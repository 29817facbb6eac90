import type { SentRequest } from '@tokenlane/core/fleet'
import type { FleetPolicy } from './fleet-policy.ts'

/** For how long a unit that is not sent yet is presumed to be under way, counted from the last request that stated it, in milliseconds. */
export const lease = 5_000
/** How finely a process keeps when its units were answered: in parts of a span, as Redis does. */
const slotsOfSpan = 100

/** Units that were granted together, and whose requests have not all arrived for sure. */
export interface Batch {
  /** Units that are neither answered nor given back. */
  open: number
  /** Those of them without a call. */
  unsent: number
  /** The requests of the others. */
  readonly requests: SentRequest[]
  /** When the units were due, at the earliest. */
  readonly dueAt: number
  /** When Redis presumes that their requests have arrived. */
  presumedAt: number
  /** When to report to Redis that this is not sure. */
  reportAt: number
}

/** `[age, count]`: units that were answered `age` milliseconds before the request; below 0 in the future. */
export type Units = [age: number, count: number]

interface Slot {
  count: number
  latest: number
}

/**
 * All units of this process that still count in a window, open and answered.
 *
 * Each request states all of them, so a Redis that forgot everything knows everything again. Answered units are
 * kept by slots of time: at most a hundred numbers for each limit, whatever the quota.
 */
export class Ledger {
  policy: FleetPolicy
  #batches: Batch[] = []
  #slots: Map<number, Slot>[]

  constructor(policy: FleetPolicy) {
    this.policy = policy
    this.#slots = policy.limits.map(() => new Map())
  }

  /** Keeps other limits from now on; what is known of answered units counts in them. */
  setPolicy(policy: FleetPolicy): void {
    const longest = this.#longestKnown()
    this.policy = policy
    this.#slots = policy.limits.map(() => new Map())
    for (const { latest, count } of longest) this.#settle(latest, count)
  }

  /** Notes units that Redis granted. */
  open(count: number, dueAt: number, presumedAt: number, reportAt: number): Batch {
    const batch: Batch = { open: count, unsent: count, requests: [], dueAt, presumedAt, reportAt }
    this.#batches.push(batch)
    return batch
  }

  /** Notes that a call takes one unit of a batch; returns when all its requests have arrived for sure. */
  sent(batch: Batch, request: SentRequest): number {
    batch.unsent -= 1
    batch.requests.push(request)
    return latestOf(batch)
  }

  /** Notes that the request of one unit of a batch has arrived at `at` at the latest. */
  settle(batch: Batch, at: number): void {
    batch.open -= 1
    this.#settle(at, 1)
  }

  /** @param wasSent whether a call had taken the unit. */
  giveBack(batch: Batch, count: number, wasSent: boolean): void {
    batch.open -= count
    if (!wasSent) batch.unsent -= count
  }

  /** Returns when Redis must know that units are still open; `Infinity` without open units. */
  get reportAt(): number {
    let earliest = Infinity
    for (const batch of this.#batches) {
      if (batch.open === 0 || latestOf(batch) <= batch.presumedAt) continue
      earliest = Math.min(earliest, batch.reportAt)
    }
    return earliest
  }

  /**
   * Returns all units by limit, as a request that leaves at `now` states them. Units without a response whose time has come
   * are presumed to be under way for another lease.
   */
  state(now: number): Units[][] {
    this.#forget(now)
    const open = this.#batches
    for (const batch of open) {
      const latest = latestOf(batch)
      const isSure = latest <= batch.presumedAt
      if (isSure && batch.presumedAt <= now + lease / 2) continue
      if (!isSure && now < batch.reportAt && now < batch.presumedAt) continue
      batch.presumedAt = Math.min(now + lease, latest)
      batch.reportAt = now + lease / 3
    }
    return this.#slots.map((slots) => [
      ...open.map((batch): Units => [ageOf(batch.presumedAt, now), batch.open]),
      ...Array.from(slots.values(), ({ latest, count }): Units => [ageOf(latest, now), count]),
    ])
  }

  #settle(at: number, count: number): void {
    for (const [index, { span }] of this.policy.limits.entries()) {
      const slots = this.#slots[index] as Map<number, Slot>
      const key = Math.ceil((at / span) * slotsOfSpan)
      const slot = slots.get(key) ?? { count: 0, latest: at }
      slots.set(key, { count: slot.count + count, latest: Math.max(slot.latest, at) })
    }
  }

  /** Drops answered units that have left every window. */
  #forget(now: number): void {
    this.#batches = this.#batches.filter(({ open }) => open > 0)
    for (const [index, { span }] of this.policy.limits.entries())
      for (const [key, { latest }] of this.#slots[index] as Map<number, Slot>)
        if (latest + span <= now) this.#slots[index]?.delete(key)
  }

  #longestKnown(): Slot[] {
    const spans = this.policy.limits.map(({ span }) => span)
    const index = spans.indexOf(Math.max(...spans))
    return [...(this.#slots[index]?.values() ?? [])]
  }
}

/** Returns when all requests of a batch have arrived for sure; `Infinity` while calls may still take units of it. */
function latestOf({ unsent, requests }: Batch): number {
  let latest = unsent > 0 ? Infinity : Number.NEGATIVE_INFINITY
  for (const request of requests) if (request.isOpen) latest = Math.max(latest, request.latest)
  return latest
}

/** Returns the age of a response, rounded so that a unit is never stated as answered too early. */
function ageOf(at: number, now: number): number {
  return Math.floor((now - at) * 100) / 100
}
