/** Round trips to an API in milliseconds: the shortest, their sum, and how many there are; three zeros for none. */
export type RoundTripSum = readonly [least: number, sum: number, count: number]

/** How many must be known before the shortest one counts, and for how long they do, in milliseconds. */
export const enoughRoundTrips = 40
const remembered = 30_000
/** What the shortest one is reduced by: this part of what the mean one takes longer, at least 2 ms. */
const margin = 0.5
const leastMargin = 2

const noRoundTrips: RoundTripSum = [0, 0, 0]

export interface RoundTripMemory {
  /** The shortest one that is possible, in milliseconds; 0 while too few are known. */
  readonly shortest: number
  /** Adds one, in milliseconds, that ended at `now`. @param isFirst whether it may have opened its connection. */
  add(ms: number, now: number, isFirst: boolean): void
}

/** The round trips of the last half minute to a minute. */
export class RoundTrips implements RoundTripMemory {
  #recent = noRoundTrips
  #before = noRoundTrips
  #periodEnd = Number.NEGATIVE_INFINITY
  sum: RoundTripSum = noRoundTrips
  shortest = 0

  add(ms: number, now: number, isFirst: boolean): void {
    if (isFirst) return
    if (now >= this.#periodEnd) {
      this.#before = now < this.#periodEnd + remembered ? this.#recent : noRoundTrips
      this.#recent = noRoundTrips
      this.#periodEnd = now + remembered
    }
    this.#recent = together(this.#recent, [ms, ms, 1])
    this.sum = together(this.#before, this.#recent)
    this.shortest = shortestOf(this.sum)
  }
}

export function together(some: RoundTripSum, others: RoundTripSum): RoundTripSum {
  if (some[2] === 0) return others
  if (others[2] === 0) return some
  return [Math.min(some[0], others[0]), some[1] + others[1], some[2] + others[2]]
}

/** Returns the shortest round trip that is possible, as far as these show it: 0 where they are too few. */
export function shortestOf([least, sum, count]: RoundTripSum, needed: number = enoughRoundTrips): number {
  if (count < needed) return 0
  return Math.max(0, least - Math.max(leastMargin, margin * (sum / count - least)))
}
