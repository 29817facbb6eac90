import { PriorityQueue } from 'p-queue'

/** Somebody who waits in a line. */
export interface Waiter {
  readonly priority: number
  /** The line's note: out of it, even if the place is still there. */
  gone: boolean
}

/**
 * Who waits, and who is next: the highest priority, and in it the one that came first.
 *
 * p-queue's own line keeps the order. Who leaves early leaves an empty place behind, since p-queue looks
 * through the whole line to find it; the places go when they are more than the people.
 */
export class Line<T extends Waiter> {
  readonly #places = new PriorityQueue()
  #empty = 0

  get size(): number {
    return this.#places.size - this.#empty
  }

  add(waiter: T): void {
    waiter.gone = false
    // it never calls what it holds, and says so in no type
    this.#places.enqueue(waiter as never, waiter)
  }

  next(): T | undefined {
    for (;;) {
      const waiter = this.#places.dequeue() as T | undefined
      if (waiter === undefined) return undefined
      if (!waiter.gone) {
        waiter.gone = true
        return waiter
      }
      this.#empty -= 1
    }
  }

  leave(waiter: T): void {
    if (waiter.gone) return
    waiter.gone = true
    this.#empty += 1
    if (this.#empty <= this.size) return
    for (const other of this.clear()) this.add(other)
  }

  /** Everybody, in order; the line is empty then. */
  clear(): T[] {
    const all: T[] = []
    for (let waiter = this.next(); waiter !== undefined; waiter = this.next()) all.push(waiter)
    return all
  }
}
