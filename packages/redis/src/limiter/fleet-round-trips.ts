import {
  type RoundTripMemory,
  RoundTrips,
  type RoundTripSum,
  shortestOf,
  together,
} from '@tokenlane/core/fleet'

/** How many windows it takes until one process's report has an effect in all others. */
const windowsToKnow = 6
/** As Redis adds them up: the shortest of none is longer than any. */
const none: RoundTripSum = [1e9, 0, 0]

/** The round trips of all processes to the API, as far as Redis knows them, and those of this one. */
export class FleetRoundTrips implements RoundTripMemory {
  readonly #own = new RoundTrips()
  #unreported = none
  #all = none
  /** By how much earlier than its response other processes may take a request to have arrived. */
  #shortestOfOthers = 0
  #othersKnowAt = Number.NEGATIVE_INFINITY

  get shortest(): number {
    return shortestOf(this.#all)
  }

  /**
   * By how much sooner than requests of other processes those of this one may arrive, in milliseconds: it must send later by
   * that. A process without a response may be nearer by all of it.
   */
  get lead(): number {
    return Math.max(0, this.#shortestOfOthers - shortestOf(this.#own.sum, 1))
  }

  add(ms: number, now: number): void {
    this.#own.add(ms, now)
    this.#unreported = together(this.#unreported, [ms, ms, 1])
  }

  /** Returns the round trips that Redis does not know yet. */
  report(): RoundTripSum {
    const unreported = this.#unreported
    this.#unreported = none
    return unreported
  }

  /** Takes what Redis knows. @param window of the limits, in milliseconds. */
  update(all: RoundTripSum, now: number, window: number): void {
    this.#all = all
    // others learn of it later, and what they freed by then counts for a window
    if (this.shortest < this.#shortestOfOthers && now < this.#othersKnowAt) return
    this.#shortestOfOthers = this.shortest
    this.#othersKnowAt = now + windowsToKnow * window
  }
}
