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
