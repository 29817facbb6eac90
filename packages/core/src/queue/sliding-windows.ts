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

interface SlidingWindow {
  readonly quota: number
  /** How long a unit stays used after its request arrived. */
  readonly span: number
}

/** The limits of one API: decides by all units, each of which counts towards every limit, when one comes free. */
export class SlidingWindows {
  /** When the requests of the units arrived, at the latest; ascending. */
  readonly #arrivals: number[] = []
  #windows: readonly SlidingWindow[] = []
  /** How long a unit stays used by the longest of them, in milliseconds. */
  longestSpan = 0

  setLimits(limits: readonly RateLimit[]): void {
    this.#windows = limits.map(({ quota, window }) => ({ quota, span: unitSpan(window) }))
    this.longestSpan = Math.max(0, ...this.#windows.map(({ span }) => span))
  }

  /** Units that are free now; negative after the quota was lowered. */
  unitsLeft(now: number): number {
    return Math.min(...this.#windows.map((window) => window.quota - this.#inUse(window, now)))
  }

  /** Returns the share of the fullest limit that is in use, 0 to 1. */
  used(now: number): number {
    return Math.min(1, Math.max(0, ...this.#windows.map((window) => this.#inUse(window, now) / window.quota)))
  }

  /** Returns the milliseconds until this number of units is free. */
  wait(now: number, units: number): number {
    let wait = 0
    for (const window of this.#windows) {
      const missing = Math.min(units, window.quota) - (window.quota - this.#inUse(window, now))
      if (missing > 0) wait = Math.max(wait, this.#freeAt(window, now, missing - 1) - now)
    }
    return wait
  }

  /**
   * Returns how long the `ahead`-th call waits from `start` on.
   *
   * @param lag how much later than one window after its send a further unit comes free.
   * @param slack how much earlier than now known the units in use may come free.
   */
  forecast(ahead: number, start: number, lag: number, slack: number): number {
    const waits = this.#windows.map((window) => {
      const { quota, span } = window
      const known = this.#inUse(window, start + slack)
      const used = Math.min(known, quota)
      // after the quota was lowered, the first units that come free make no room
      const surplus = known - used
      const beyond = ahead - (quota - used)
      if (beyond <= 0) return 0
      const round = span + lag
      const inRound = (beyond - 1) % quota
      const freeAt = this.#freeAt(window, start + slack, inRound + surplus) - slack
      // a call without a response so far takes no longer than one that is sent now
      return Math.min(round, freeAt - start) + Math.floor((beyond - 1) / quota) * round
    })
    return Math.max(0, ...waits)
  }

  /** Adds a unit whose request arrives at `at` at the latest. */
  add(at: number): void {
    if ((this.#arrivals.at(-1) ?? at) <= at) this.#arrivals.push(at)
    else this.#arrivals.splice(this.#firstAfter(at), 0, at)
  }

  remove(at: number): void {
    const index = this.#firstAfter(at) - 1
    if (this.#arrivals[index] === at) this.#arrivals.splice(index, 1)
  }

  /** Moves a unit; one that is forgotten stays so. In place, since a long turn of the event loop moves thousands. */
  move(from: number, to: number): void {
    const arrivals = this.#arrivals
    let index = this.#firstAfter(from) - 1
    if (arrivals[index] !== from) return
    for (; index > 0 && (arrivals[index - 1] as number) > to; index -= 1)
      arrivals[index] = arrivals[index - 1] as number
    for (; index < arrivals.length - 1 && (arrivals[index + 1] as number) < to; index += 1)
      arrivals[index] = arrivals[index + 1] as number
    arrivals[index] = to
  }

  /** Forgets the units that are free by `now`, once they are half of all: each time, all others move up. */
  forget(now: number): void {
    const free = this.#firstAfter(now - this.longestSpan)
    if (2 * free > this.#arrivals.length) this.#arrivals.splice(0, free)
  }

  #inUse({ span }: SlidingWindow, at: number): number {
    return this.#arrivals.length - this.#firstAfter(at - span)
  }

  /** Returns when unit number `index` comes free, of those that are used after `at`. */
  #freeAt({ span }: SlidingWindow, at: number, index: number): number {
    return (this.#arrivals[this.#firstAfter(at - span) + index] ?? Infinity) + span
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
