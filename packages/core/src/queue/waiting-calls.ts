import { PriorityQueue } from 'p-queue'

/** Somebody who waits in a line. */
export interface Waiter {
  readonly priority: number
  /** The line's note: out of it, even if the place is still there. */
  gone: boolean
}

interface Level {
  readonly priority: number
  readonly places: PriorityQueue
}

/**
 * Who waits, and who is next: the highest priority, and in it the one that came first.
 *
 * p-queue's own line keeps the order, one for each priority: with several it would move half of the line for
 * each that joins. Who leaves early leaves an empty place behind, since p-queue would look through the line to
 * find it; the places go when they are more than the people.
 */
export class WaitingCalls<T extends Waiter> {
  /** The highest first. */
  readonly #levels: Level[] = []
  #people = 0
  #empty = 0

  get size(): number {
    return this.#people
  }

  /** How many go before somebody who joins now, at least. */
  ahead(priority: number): number {
    let places = 0
    for (const level of this.#levels) {
      if (level.priority < priority) break
      places += level.places.size
    }
    return Math.max(0, places - this.#empty)
  }

  add(waiter: T): void {
    waiter.gone = false
    this.#people += 1
    // p-queue never calls what it holds here, though its types say that it could
    this.#levelOf(waiter.priority).places.enqueue(waiter as never)
  }

  next(): T | undefined {
    for (let level = this.#levels[0]; level !== undefined; level = this.#levels[0]) {
      const waiter = level.places.dequeue() as T | undefined
      if (waiter === undefined) this.#levels.shift()
      else if (waiter.gone) this.#empty -= 1
      else {
        waiter.gone = true
        this.#people -= 1
        return waiter
      }
    }
    return undefined
  }

  leave(waiter: T): void {
    if (waiter.gone) return
    waiter.gone = true
    this.#people -= 1
    this.#empty += 1
    if (this.#empty <= this.#people) return
    for (const other of this.clear()) this.add(other)
  }

  /** Everybody, in order; the line is empty then. */
  clear(): T[] {
    const all: T[] = []
    for (let waiter = this.next(); waiter !== undefined; waiter = this.next()) all.push(waiter)
    return all
  }

  #levelOf(priority: number): Level {
    let low = 0
    let high = this.#levels.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const level = this.#levels[middle] as Level
      if (level.priority === priority) return level
      if (level.priority > priority) low = middle + 1
      else high = middle
    }
    const level = { priority, places: new PriorityQueue() }
    this.#levels.splice(low, 0, level)
    return level
  }
}
