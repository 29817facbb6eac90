/** The units that one API's limits share: how many are under way, and when the others were settled. */
export class UnitHistory {
  #underWay = 0
  /** Ascending; those before `#head` are forgotten. */
  #settledAt: number[] = []
  #head = 0

  get underWay(): number {
    return this.#underWay
  }

  /** Units that are under way or not forgotten. */
  get size(): number {
    return this.#underWay + this.#settledAt.length - this.#head
  }

  take(): void {
    this.#underWay += 1
  }

  giveBack(): void {
    this.#underWay -= 1
  }

  settle(at: number): void {
    this.#underWay -= 1
    const last = this.#settledAt.at(-1)
    // one without a response is settled later than the ones after it
    // `push` would make room for 16 more, which an API with few calls never needs
    if (last === undefined) this.#settledAt = [at]
    else if (last <= at) this.#settledAt.push(at)
    else this.#settledAt.splice(this.#firstUsed(at, 0), 0, at)
  }

  /** Returns how many settled units are used after `now`, if each stays used for `span` milliseconds. */
  usedSince(now: number, span: number): number {
    return this.#settledAt.length - this.#firstUsed(now, span)
  }

  /** Returns when the settled unit number `index` comes free, of those that are used after `now`. */
  freeAt(now: number, span: number, index: number): number {
    const at = this.#settledAt[this.#firstUsed(now, span) + index]
    return at === undefined ? Infinity : at + span
  }

  /** Forgets the units that are free by `now`, if each stays used for `span` milliseconds. */
  forget(now: number, span: number): void {
    while (this.#head < this.#settledAt.length && (this.#settledAt[this.#head] as number) + span <= now)
      this.#head += 1
    if (this.#head <= this.#settledAt.length / 2 && this.#head < this.#settledAt.length) return
    this.#settledAt = this.#settledAt.slice(this.#head)
    this.#head = 0
  }

  /** Where the units begin that are used after `now`. */
  #firstUsed(now: number, span: number): number {
    let low = this.#head
    let high = this.#settledAt.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#settledAt[middle] as number) + span <= now) low = middle + 1
      else high = middle
    }
    return low
  }
}
