import type { RateLimit } from './rate-policy.ts'
import type { UnitHistory } from './unit-history.ts'
import { unitSpan } from './unit-span.ts'

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
