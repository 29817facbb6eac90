import type { RateLimit } from './rate-policy.ts'

/**
 * Returns how long a unit of a limit stays used after its response arrived, in milliseconds: the window, 1 ms for
 * the readings of two clocks, and a ten-thousandth for two clocks that run at different speeds.
 *
 * Part of the proof that a server never counts more than `quota` calls in a window; in-memory and shared limiters
 * use the same span.
 */
export function unitSpan(window: number): number {
  return window + 1 + window / 10_000
}

/** One limit: decides by the history of all units when one of its own comes free. */
export class SlidingWindow {
  readonly #quota: number
  readonly #history: UnitHistory
  /** How long a unit stays used after it was settled. */
  readonly span: number

  constructor({ quota, window }: RateLimit, history: UnitHistory) {
    this.#quota = quota
    this.span = unitSpan(window)
    this.#history = history
  }

  /** Units that are free now; negative after the quota was lowered. */
  unitsLeft(now: number): number {
    return this.#quota - this.#history.underWay - this.#history.usedSince(now, this.span)
  }

  /** Returns the share of the quota that is in use, 0 to 1. */
  used(now: number): number {
    return Math.min(1, (this.#quota - this.unitsLeft(now)) / this.#quota)
  }

  /** Returns the milliseconds until a unit is free; `Infinity` while only a response can free one. */
  wait(now: number): number {
    // the usual case, without a search
    if (this.#history.size < this.#quota) return 0
    const left = this.unitsLeft(now)
    if (left > 0) return 0
    return this.#history.freeAt(now, this.span, -left) - now
  }

  /** Returns the wait from `start` on, as if every unit under way were answered `roundTrip` from now. */
  forecast(ahead: number, now: number, start: number, roundTrip: number): number {
    const known = this.#history.usedSince(start, this.span)
    const surplus = Math.max(0, this.#history.underWay + known - this.#quota)
    // after the quota was lowered, the first units that come free make no room
    const settled = known - Math.min(known, surplus)
    const underWay = Math.min(this.#history.underWay, this.#quota)
    const beyond = ahead - (this.#quota - underWay - settled)
    if (beyond <= 0) return 0
    const round = this.span + roundTrip
    const inRound = (beyond - 1) % this.#quota
    let freeAt =
      inRound < settled ? this.#history.freeAt(start, this.span, inRound + known - settled) : now + round
    if (underWay > 0) freeAt = Math.min(freeAt, now + round)
    // neither free nor under way now: a unit that is taken at the start
    if (inRound >= settled + underWay) freeAt = start + round
    return Math.max(0, freeAt - start) + Math.floor((beyond - 1) / this.#quota) * round
  }
}

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
    // one without a response is settled later than the ones after it
    if ((this.#settledAt.at(-1) ?? at) <= at) this.#settledAt.push(at)
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
