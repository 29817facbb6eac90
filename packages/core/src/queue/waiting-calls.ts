import { PriorityLevels } from './priority-levels.ts'

/** A call that waits. */
export interface Waiter {
  readonly priority: number
  /** Set by the queue: the call no longer waits, though its place may still be there. */
  gone: boolean
}

/**
 * The calls that wait, in order: the highest priority first, and in it the call that came first.
 *
 * A queue of p-queue for each priority keeps the order. A call that gives up leaves its place behind, because p-queue
 * would search its queue for it. Once more places are empty than taken, all queues are rebuilt.
 */
export class WaitingCalls<T extends Waiter> {
  #levels = new PriorityLevels()
  #empty = 0

  get size(): number {
    return this.#levels.total
  }

  /** Returns how many calls go before one of this priority that joins now. */
  ahead(priority: number): number {
    return this.#levels.countFrom(priority)
  }

  add(waiter: T): void {
    waiter.gone = false
    this.#levels.of(waiter.priority).places.enqueue(waiter as never)
    this.#levels.count(waiter.priority, 1)
  }

  /** Takes out the call that goes next. */
  next(): T | undefined {
    for (let level = this.#levels.highest; level !== undefined; level = this.#levels.highest) {
      const waiter = level.places.dequeue() as T | undefined
      if (waiter === undefined) this.#levels.dropHighest()
      else if (waiter.gone) this.#empty -= 1
      else {
        waiter.gone = true
        this.#levels.count(waiter.priority, -1)
        return waiter
      }
    }
    return undefined
  }

  /** Takes out a call that gave up. */
  leave(waiter: T): void {
    if (waiter.gone) return
    waiter.gone = true
    this.#levels.count(waiter.priority, -1)
    this.#empty += 1
    if (this.#empty <= this.size) return
    for (const other of this.clear()) this.add(other)
  }

  /** Takes out all calls and returns them in order. */
  clear(): T[] {
    const all: T[] = []
    for (let waiter = this.next(); waiter !== undefined; waiter = this.next()) all.push(waiter)
    this.#levels = new PriorityLevels()
    this.#empty = 0
    return all
  }
}
