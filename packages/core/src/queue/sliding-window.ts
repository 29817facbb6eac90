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
  wait(now: number, units = 1): number {
    const wanted = Math.min(units, this.#quota)
    // the usual case, without a search
    if (this.#history.size + wanted <= this.#quota) return 0
    const missing = wanted - this.unitsLeft(now)
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
  /** Ascending; those before `#head` are forgotten. */
  #arrivals: number[] = []
  #head = 0

  /** Units that are not forgotten. */
  get size(): number {
    return this.#arrivals.length - this.#head
  }

  /** Adds a unit whose request arrives at `at` at the latest. */
  add(at: number): void {
    if ((this.#arrivals.at(-1) ?? at) <= at) this.#arrivals.push(at)
    else this.#arrivals.splice(this.#firstAfter(at), 0, at)
  }

  remove(at: number): void {
    const index = this.#firstAfter(at) - 1
    if (this.#arrivals[index] === at && index >= this.#head) this.#arrivals.splice(index, 1)
  }

  /** Moves a unit; one that is forgotten stays so. */
  move(from: number, to: number): void {
    const arrivals = this.#arrivals
    let index = this.#firstAfter(from) - 1
    if (index < this.#head || arrivals[index] !== from) return
    for (; index > this.#head && (arrivals[index - 1] as number) > to; index -= 1)
      arrivals[index] = arrivals[index - 1] as number
    for (; index < arrivals.length - 1 && (arrivals[index + 1] as number) < to; index += 1)
      arrivals[index] = arrivals[index + 1] as number
    arrivals[index] = to
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
    while (this.#head < this.#arrivals.length && (this.#arrivals[this.#head] as number) + span <= now)
      this.#head += 1
    if (this.#head <= this.#arrivals.length / 2 && this.#head < this.#arrivals.length) return
    this.#arrivals = this.#arrivals.slice(this.#head)
    this.#head = 0
  }

  /** Returns where the units begin whose requests arrive after `at`. */
  #firstAfter(at: number): number {
    let low = this.#head
    let high = this.#arrivals.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#arrivals[middle] as number) <= at) low = middle + 1
      else high = middle
    }
    return low
  }
}
