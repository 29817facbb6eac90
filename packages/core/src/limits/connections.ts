/** A connection is taken to be open for this many slots of time after its use, in milliseconds: undici keeps one for 3 s. */
const slot = 500
const keptOpen = 6

/**
 * How many connections to an API are open, as far as its requests show it: each request without a response has one of its
 * own, but for HTTP/2, which needs only one.
 */
export class Connections {
  /** Requests without a response. */
  busy = 0
  /** Requests whose exchange has not ended: the connections that are not free. */
  #taken = 0
  /** The most busy connections in each slot of time, the last one first, which is the number that is open. */
  #mostBusy: number[] = []
  #slot = 0

  /** Counts a request, and returns whether it may need a new connection. */
  sent(now: number): boolean {
    const needsMore = !this.isOneFree(now)
    this.busy += 1
    this.#taken += 1
    this.#mostBusy[0] = Math.max(this.#mostBusy[0] ?? 0, this.busy)
    return needsMore
  }

  /** @param closes whether the connection is closed then: others may be, too. */
  answered(now: number, closes: boolean): void {
    this.#open(now)
    this.busy -= 1
    if (closes) this.#mostBusy = [this.busy]
  }

  /** The exchange of an answered request ended: its connection is free. */
  freed(): void {
    this.#taken -= 1
  }

  /** A request ended without a response: its connection is closed, or was never open. */
  closed(): void {
    this.busy -= 1
    this.#taken -= 1
    this.#mostBusy = [this.busy]
  }

  isOneFree(now: number): boolean {
    return this.#taken < this.#open(now)
  }

  /** Returns how many more requests need no connection but those that were busy lately; `Infinity` while none is busy. */
  free(now: number): number {
    return this.busy > 0 ? this.#open(now) - this.#taken : Infinity
  }

  #open(now: number): number {
    const current = Math.floor(now / slot)
    // fake timers may set the clock back
    const passed = Math.max(0, current - this.#slot)
    this.#slot = current
    for (let each = 0; each < Math.min(passed, keptOpen); each += 1) this.#mostBusy.unshift(this.busy)
    this.#mostBusy.length = Math.min(this.#mostBusy.length, keptOpen)
    return Math.max(...this.#mostBusy)
  }
}
