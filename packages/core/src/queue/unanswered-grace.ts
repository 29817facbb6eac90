/** The grace before any round trip was seen, and the longest that it grows to, in milliseconds. */
const shortest = 1_000
const longest = 60_000

/** How long a request whose response never came may still be on its way to the API. */
export interface UnansweredGrace {
  /** Milliseconds after the attempt ended: until then its unit counts as not answered. */
  readonly ms: number
  /** Notes how long a response took, in milliseconds. */
  sawRoundTrip(ms: number): void
  /** Notes for how long there was no response when the attempt ended: the round trip is at least as long. */
  sawNoResponse(ms: number): void
}

/**
 * Creates the grace for unanswered requests: `fixed` milliseconds where that is given; otherwise 1 s, growing at
 * once to the longest round trip that was seen, to 60 s at most, and shrinking by a sixteenth of the difference
 * with each shorter one.
 *
 * A caller that gives up ends the attempt, but the network may deliver the request later. Its unit is used from the
 * moment of delivery, so a shared and an in-memory limiter free it one window after this grace.
 */
export function createUnansweredGrace(fixed?: number): UnansweredGrace {
  if (fixed !== undefined) return { ms: fixed, sawRoundTrip() {}, sawNoResponse() {} }
  let slowest = 0
  return {
    get ms() {
      return Math.min(longest, Math.max(shortest, slowest))
    },
    sawRoundTrip(ms) {
      slowest = Math.max(ms, slowest - (slowest - ms) / 16)
    },
    sawNoResponse(ms) {
      slowest = Math.max(ms, slowest)
    },
  }
}
