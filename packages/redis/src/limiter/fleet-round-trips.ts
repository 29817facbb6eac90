import {
  defaultGrace,
  enoughRoundTrips,
  type RoundTripMemory,
  RoundTrips,
  type RoundTripSum,
  shortestOf,
  together,
} from '@tokenlane/core/fleet'

/** How many windows it takes until one process's report has an effect in all others. */
const windowsToKnow = 6
/** Shorter ones are not worth that others wait, in milliseconds; and how many a process adds while others wait. */
const long = 100
const fewOfOne = 4
/** As Redis adds them up: the shortest of none is longer than any. */
const none: RoundTripSum = [1e9, 0, 0]

/** The round trips of all processes to the API, as far as Redis knows them, and those of this one. */
export class FleetRoundTrips implements RoundTripMemory {
  readonly #own = new RoundTrips()
  /** Those that may have opened their connections. */
  readonly #ownFirsts = new RoundTrips()
  /** Whether those say anything: a learned bound has its own rule for them. */
  areFirstsCompared = true
  #unreported = none
  #all = none
  /** By how much earlier than its response other processes may take a request to have arrived. */
  #shortestOfOthers = 0
  #known = 0
  #othersKnowAt = Number.NEGATIVE_INFINITY

  get shortest(): number {
    return shortestOf(this.#all)
  }

  /**
   * Returns by how much sooner than requests of other processes one of this process may arrive, in milliseconds: it must be
   * sent later by that. A process without a response may be nearer by all of it.
   */
  lead(isFirst: boolean): number {
    const { sum } = isFirst && this.areFirstsCompared ? this.#ownFirsts : this.#own
    return Math.min(defaultGrace, Math.max(0, this.#shortestOfOthers - shortestOf(sum, 1)))
  }

  /**
   * Whether the fleet knows so few of this half minute that soon none would count, and they are long: the first request of a
   * connection does not show how short one can be. Many processes add a few each.
   */
  get areMissing(): boolean {
    const isKnown = this.#known >= enoughRoundTrips || this.#own.sum[2] >= fewOfOne
    return this.areFirstsCompared && !isKnown && shortestOf(this.#ownFirsts.sum, 1) > long
  }

  add(ms: number, now: number, isFirst: boolean): void {
    if (isFirst) return this.#ownFirsts.add(ms, now, false)
    this.#own.add(ms, now, false)
    this.#unreported = together(this.#unreported, [ms, ms, 1])
  }

  /** Returns the round trips that Redis does not know yet. */
  report(): RoundTripSum {
    const unreported = this.#unreported
    this.#unreported = none
    return unreported
  }

  /** Takes what Redis knows. @param window of the limits, in milliseconds. */
  update([recent, earlier]: readonly [RoundTripSum, RoundTripSum], now: number, window: number): void {
    this.#all = together(recent, earlier)
    this.#known = recent[2]
    // others learn of it later, and what they freed by then counts for a window
    if (this.shortest < this.#shortestOfOthers && now < this.#othersKnowAt) return
    this.#shortestOfOthers = this.shortest
    this.#othersKnowAt = now + windowsToKnow * window
  }
}
