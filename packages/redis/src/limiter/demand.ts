import type { BudgetResponse } from './protocol.ts'

/** How many units the calls of this process could use, and when to ask Redis for them. */
export class Demand {
  /** How many units calls could use. */
  wanted = 0
  /** When this process should ask for units, by the last response of Redis. */
  #askAt = Number.NEGATIVE_INFINITY
  /** No process gets a unit before this time. */
  #soonestAt = Number.NEGATIVE_INFINITY
  /** Whether Redis has this process in its queue. */
  isQueued = false

  /** Returns how many units to ask for. */
  beyond(granted: number): number {
    return Math.max(0, this.wanted - granted)
  }

  /**
   * Returns when to ask for more units, or to leave the queue; `Infinity` for never.
   *
   * @param patience for how long this process lets others of the queue go first, in milliseconds.
   */
  sendAt(granted: number, patience: number): number {
    if (this.beyond(granted) > 0) return this.#askAt + (this.isQueued ? patience : 0)
    return this.isQueued ? Number.NEGATIVE_INFINITY : Infinity
  }

  /** Returns when the first unit that is not granted yet may come. */
  soonest(granted: number, now: number): number {
    const askAt = this.wanted > 0 && granted === 0 ? this.#askAt : now
    return Math.max(now, this.#soonestAt, askAt)
  }

  /** Forgets when the turn of this process comes. */
  askAtOnce(): void {
    this.#askAt = Number.NEGATIVE_INFINITY
  }

  /** Takes a response. The next request leaves earlier by the time that it needs to reach Redis. */
  update({ wait, soonest }: BudgetResponse, now: number, roundTrip: number): void {
    this.#askAt = now + wait - Math.min(roundTrip, wait / 2)
    this.#soonestAt = now + soonest
  }
}
