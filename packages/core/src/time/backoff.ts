/**
 * How long to wait after so many failures in a row: doubling from `first` to `most`, drawn anew each time
 * between a half and the whole, so that processes that failed together do not come back together.
 *
 * Where somebody waits for the next try, or an API forces it: a wait of nearly nothing would let a 2 s outage
 * cost a seventh token request, and a refusing API a second renewal at once.
 */
export function backoff(failures: number, first: number, most: number): number {
  return betweenHalfAndWhole(doubled(failures, first, most))
}

/** The same, drawn from 0 to the whole ("full jitter"), which spreads a fleet best. */
export function fullJitter(failures: number, first: number, most: number): number {
  return doubled(failures, first, most) * Math.random()
}

export function betweenHalfAndWhole(whole: number): number {
  return whole * (0.5 + Math.random() / 2)
}

/** Returns `first` milliseconds after one failure, and twice as many after each further one, up to `most`. */
export function doubled(failures: number, first: number, most: number): number {
  return Math.min(most, first * 2 ** Math.min(failures - 1, 30))
}
