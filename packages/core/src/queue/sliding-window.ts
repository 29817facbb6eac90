import type { RateLimit } from './rate-policy.ts'
import { unitSpan } from './unit-span.ts'

/** One limit: units under way, and when those that were answered come free again. */
export class SlidingWindow {
  readonly #quota: number
  readonly #span: number
  #underWay = 0
  /** Ascending; those before `#head` are over. */
  #freeAt: number[] = []
  #head = 0

  constructor({ quota, window }: RateLimit) {
    this.#quota = quota
    this.#span = unitSpan(window)
  }

  take(): void {
    this.#underWay += 1
  }

  giveBack(): void {
    this.#underWay -= 1
  }

  settle(at: number): void {
    this.#underWay -= 1
    const freeAt = at + this.#span
    const last = this.#freeAt.at(-1)
    // one without an answer comes free later than the ones after it
    if (last === undefined || last <= freeAt) this.#freeAt.push(freeAt)
    else this.#freeAt.splice(this.#firstAfter(freeAt), 0, freeAt)
  }

  /** Returns the share of the quota that is in use, 0 to 1. */
  used(now: number): number {
    return Math.min(1, this.#units(now) / this.#quota)
  }

  wait(now: number): number {
    if (this.#units(now) < this.#quota) return 0
    return this.#head < this.#freeAt.length ? (this.#freeAt[this.#head] as number) - now : Infinity
  }

  /** From `start` on, as if every unit under way were answered `roundTrip` from now. */
  forecast(ahead: number, now: number, start: number, roundTrip: number): number {
    const head = this.#firstAfter(start)
    const known = this.#freeAt.length - head
    const beyond = ahead - (this.#quota - this.#underWay - known)
    if (beyond <= 0) return 0
    const round = this.#span + roundTrip
    const inRound = (beyond - 1) % this.#quota
    let freeAt = inRound < known ? (this.#freeAt[head + inRound] as number) : now + round
    if (this.#underWay > 0) freeAt = Math.min(freeAt, now + round)
    // neither free nor under way now: one that goes at the start
    if (inRound >= known + this.#underWay) freeAt = start + round
    return Math.max(0, freeAt - start) + Math.floor((beyond - 1) / this.#quota) * round
  }

  /** Returns how many units are under way or not free again. */
  #units(now: number): number {
    this.#forget(now)
    return this.#underWay + this.#freeAt.length - this.#head
  }

  #forget(now: number): void {
    while (this.#head < this.#freeAt.length && (this.#freeAt[this.#head] as number) <= now) this.#head += 1
    if (this.#head <= this.#freeAt.length / 2 && this.#head < this.#freeAt.length) return
    this.#freeAt = this.#freeAt.slice(this.#head)
    this.#head = 0
  }

  /** Where the units begin that come free after `at`. */
  #firstAfter(at: number): number {
    let low = this.#head
    let high = this.#freeAt.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#freeAt[middle] as number) <= at) low = middle + 1
      else high = middle
    }
    return low
  }
}
