/**
 * What Redis must hear of this process, and by when.
 *
 * | state     | what it means                              | what ends it                                          |
 * | --------- | ------------------------------------------ | ----------------------------------------------------- |
 * | none      | Redis knows all, or hears it at any time   | a response: can wait; anything else: urgent           |
 * | can wait  | responses may wait for other news          | anything else: urgent; a message that leaves: none    |
 * | urgent    | the next message goes as soon as it may    | a message that leaves: none                           |
 *
 * A message that Redis did not answer is urgent news again.
 */
export class News {
  /** Since when there is news: `Infinity` for none, `-Infinity` for urgent news. */
  #since = Infinity
  #isAnswered = true

  get isNone(): boolean {
    return this.#since === Infinity
  }

  add(): void {
    this.#since = Number.NEGATIVE_INFINITY
  }

  addResponse(now: number): void {
    this.#since = Math.min(this.#since, now)
  }

  /** A message leaves, with all news. */
  leave(): void {
    this.#since = Infinity
    this.#isAnswered = false
  }

  /** Redis answered the message. */
  arrive(): void {
    this.#isAnswered = true
  }

  /** Another message may go: what the last one said is news if Redis did not answer it. */
  repeat(): void {
    if (!this.#isAnswered) this.add()
  }

  /** Returns when a message must go, if responses may wait for `longest` milliseconds. */
  tellAt(longest: number): number {
    return this.#since + longest
  }
}
