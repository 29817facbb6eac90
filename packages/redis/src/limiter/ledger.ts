import type { FleetPolicy } from './fleet-policy.ts'

/** For how long a unit without a response is presumed to be under way, counted from the last request that stated it, in milliseconds. */
export const lease = 5_000
/** How finely a process keeps when its units were answered: in parts of a span, as Redis does. */
const slotsOfSpan = 100

/** Units that were granted together and are not answered yet. */
export interface Batch {
  /** Units that are neither answered nor given back. */
  open: number
  /** When the units were due, at the earliest. */
  readonly dueAt: number
  /** When Redis presumes that they are answered, at the earliest. */
  presumedAt: number
  /** When to report to Redis that they are not. */
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
  #policy: FleetPolicy
  #batches: Batch[] = []
  #slots: Map<number, Slot>[]

  constructor(policy: FleetPolicy) {
    this.#policy = policy
    this.#slots = policy.limits.map(() => new Map())
  }

  get policy(): FleetPolicy {
    return this.#policy
  }

  /** Keeps other limits from now on; what is known of answered units counts in them. */
  setPolicy(policy: FleetPolicy): void {
    const longest = this.#longestKnown()
    this.#policy = policy
    this.#slots = policy.limits.map(() => new Map())
    for (const { latest, count } of longest) this.#settle(latest, count)
  }

  /** Notes units that Redis granted. */
  open(count: number, dueAt: number, presumedAt: number, reportAt: number): Batch {
    const batch = { open: count, dueAt, presumedAt, reportAt }
    this.#batches.push(batch)
    return batch
  }

  /** Notes that one unit of a batch was answered at `at`. */
  settle(batch: Batch, at: number): void {
    batch.open -= 1
    this.#settle(at, 1)
  }

  giveBack(batch: Batch, count: number): void {
    batch.open -= count
  }

  /** Returns when Redis must know that units are still open; `Infinity` without open units. */
  get reportAt(): number {
    let earliest = Infinity
    for (const { open, reportAt } of this.#batches) if (open > 0) earliest = Math.min(earliest, reportAt)
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
      if (now < batch.reportAt && now < batch.presumedAt) continue
      batch.presumedAt = now + lease
      batch.reportAt = now + lease / 3
    }
    return this.#slots.map((slots) => [
      ...open.map((batch): Units => [ageOf(batch.presumedAt, now), batch.open]),
      ...Array.from(slots.values(), ({ latest, count }): Units => [ageOf(latest, now), count]),
    ])
  }

  #settle(at: number, count: number): void {
    for (const [index, { span }] of this.#policy.limits.entries()) {
      const slots = this.#slots[index] as Map<number, Slot>
      const key = Math.ceil((at / span) * slotsOfSpan)
      const slot = slots.get(key)
      if (slot === undefined) slots.set(key, { count, latest: at })
      else {
        slot.count += count
        slot.latest = Math.max(slot.latest, at)
      }
    }
  }

  /** Drops answered units that have left every window. */
  #forget(now: number): void {
    this.#batches = this.#batches.filter(({ open }) => open > 0)
    for (const [index, { span }] of this.#policy.limits.entries())
      for (const [key, { latest }] of this.#slots[index] as Map<number, Slot>)
        if (latest + span <= now) this.#slots[index]?.delete(key)
  }

  #longestKnown(): Slot[] {
    const spans = this.#policy.limits.map(({ span }) => span)
    const index = spans.indexOf(Math.max(...spans))
    return [...(this.#slots[index]?.values() ?? [])]
  }
}

/** Returns the age of a response, rounded so that a unit is never stated as answered too early. */
function ageOf(at: number, now: number): number {
  return Math.floor((now - at) * 100) / 100
}
