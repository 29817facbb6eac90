/**
 * What Redis does not know of this process yet, and by when it must.
 *
 * | state    | what it means                                     | what ends it                                        |
 * | -------- | ------------------------------------------------- | --------------------------------------------------- |
 * | none     | Redis knows all, or it does not matter when       | an early response: can wait; all else: urgent       |
 * | can wait | early responses may wait for other changes        | any other change: urgent; a request leaves: none    |
 * | urgent   | the next request leaves as soon as it may         | a request leaves: none                              |
 *
 * What a request reported is urgent again if Redis did not respond to it.
 */
export class Unreported {
  /** Since when there is something to report: `Infinity` for nothing, `-Infinity` if it is urgent. */
  #since = Infinity
  #hasResponse = true

  get isNone(): boolean {
    return this.#since === Infinity
  }

  /** Adds a change that Redis must know at once. */
  add(): void {
    this.#since = Number.NEGATIVE_INFINITY
  }

  /** Adds a response of the API that came earlier than promised, which may wait for other changes. */
  addEarlyResponse(now: number): void {
    this.#since = Math.min(this.#since, now)
  }

  /** Notes that a request leaves, which reports everything. */
  sent(): void {
    this.#since = Infinity
    this.#hasResponse = false
  }

  /** Notes that Redis responded to the request. */
  responded(): void {
    this.#hasResponse = true
  }

  /** Notes that another request may leave: it must repeat the last one if Redis did not respond to that. */
  repeat(): void {
    if (!this.#hasResponse) this.add()
  }

  /** Returns when a request must leave, if early responses of the API may wait for `longest` milliseconds. */
  sendAt(longest: number): number {
    return this.#since + longest
  }
}
