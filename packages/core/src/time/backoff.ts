/**
 * Returns how long to wait after this many failures in a row, in milliseconds: doubling from `first` to `most`, drawn
 * anew each time between a half and the whole, so that processes that failed together do not come back together.
 *
 * For waits that calls sit out, and for renewals that an API forces: a wait of nearly nothing would let an outage of
 * 2 s cost a seventh token request, and a refusing API a second renewal at once.
 */
export function backoff(failures: number, first: number, most: number): number {
  return betweenHalfAndWhole(doubled(failures, first, most))
}

/** Returns the same drawn from 0 to the whole ("full jitter"), which spreads the processes of a fleet best. */
export function fullJitter(failures: number, first: number, most: number): number {
  return doubled(failures, first, most) * Math.random()
}

/** Returns a random part of `whole`, a half or more. */
export function betweenHalfAndWhole(whole: number): number {
  return whole * (0.5 + Math.random() / 2)
}

/** Returns `first` after one failure and twice as much after each further one, up to `most`. */
export function doubled(failures: number, first: number, most: number): number {
  return Math.min(most, first * 2 ** Math.min(failures - 1, 30))
}
