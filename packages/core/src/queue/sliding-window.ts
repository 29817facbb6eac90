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
  /** How long a unit stays used after its request arrived. */
  readonly span: number

  constructor({ quota, window }: RateLimit, history: UnitHistory) {
    this.#quota = quota
    this.span = unitSpan(window)
    this.#history = history
  }

  /** Units that are free now; negative after the quota was lowered. */
  unitsLeft(now: number): number {
    return this.#quota - this.#history.usedSince(now, this.span)
  }

  /** Returns the share of the quota that is in use, 0 to 1. */
  used(now: number): number {
    return Math.min(1, (this.#quota - this.unitsLeft(now)) / this.#quota)
  }

  /** Returns the milliseconds until so many units are free. */
  wait(now: number, units: number): number {
    const missing = Math.min(units, this.#quota) - this.unitsLeft(now)
    return missing > 0 ? this.#history.freeAt(now, this.span, missing - 1) - now : 0
  }

  /**
   * Returns the wait from `start` on.
   *
   * @param lag how much later than one window after its send a further unit comes free.
   * @param slack how much earlier than now known the units in use may come free.
   */
  forecast(ahead: number, start: number, lag: number, slack: number): number {
    const known = this.#history.usedSince(start + slack, this.span)
    const used = Math.min(known, this.#quota)
    // after the quota was lowered, the first units that come free make no room
    const surplus = known - used
    const beyond = ahead - (this.#quota - used)
    if (beyond <= 0) return 0
    const round = this.span + lag
    const inRound = (beyond - 1) % this.#quota
    // a call without a response so far takes no longer than one that is sent now
    const first = Math.min(
      round,
      this.#history.freeAt(start + slack, this.span, inRound + surplus) - slack - start,
    )
    return first + Math.floor((beyond - 1) / this.#quota) * round
  }
}

/** When the requests arrived, at the latest, whose units the limits of one API share. */
export class UnitHistory {
  /** Ascending. */
  readonly #arrivals: number[] = []

  /** Adds a unit whose request arrives at `at` at the latest. */
  add(at: number): void {
    this.#arrivals.splice(this.#firstAfter(at), 0, at)
  }

  /** Takes out a unit; returns whether it was there, which one that is forgotten is not. */
  remove(at: number): boolean {
    const index = this.#firstAfter(at) - 1
    const isThere = this.#arrivals[index] === at
    if (isThere) this.#arrivals.splice(index, 1)
    return isThere
  }

  move(from: number, to: number): void {
    if (this.remove(from)) this.add(to)
  }

  /** Returns how many units are used after `now`, if each stays used for `span` milliseconds. */
  usedSince(now: number, span: number): number {
    return this.#arrivals.length - this.#firstAfter(now - span)
  }

  /** Returns when unit number `index` comes free, of those that are used after `now`. */
  freeAt(now: number, span: number, index: number): number {
    const at = this.#arrivals[this.#firstAfter(now - span) + index]
    return at === undefined ? Infinity : at + span
  }

  /** Forgets the units that are free by `now`, if each stays used for `span` milliseconds. */
  forget(now: number, span: number): void {
    this.#arrivals.splice(0, this.#firstAfter(now - span))
  }

  /** Returns where the units begin whose requests arrive after `at`. */
  #firstAfter(at: number): number {
    let low = 0
    let high = this.#arrivals.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#arrivals[middle] as number) <= at) low = middle + 1
      else high = middle
    }
    return low
  }
}
