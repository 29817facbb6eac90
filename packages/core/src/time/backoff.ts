/** Returns the delay after this many failures in a row, in ms: `first`, then doubled each time, up to `most`. */
export function backoff(
  failures: number,
  { first, most }: { readonly first: number; readonly most: number },
): number {
  return Math.min(most, first * 2 ** (failures - 1))
}

/** Returns a random half to whole: processes that failed together come back neither together nor at once. */
export function betweenHalfAndWhole(whole: number): number {
  return whole * (0.5 + Math.random() / 2)
}
