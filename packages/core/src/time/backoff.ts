/**
 * Returns how long to wait after this many failures in a row (1 or more), in milliseconds: `first`, then twice as long
 * after each further one, and `most` at most.
 */
export function backoff(
  failures: number,
  { first, most }: { readonly first: number; readonly most: number },
): number {
  return Math.min(most, first * 2 ** (failures - 1))
}

/**
 * Returns a random part of `whole`, a half or more: processes that failed together do not come back together, and none
 * comes back after nearly nothing.
 */
export function betweenHalfAndWhole(whole: number): number {
  return whole * (0.5 + Math.random() / 2)
}
