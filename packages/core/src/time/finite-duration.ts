/** The longest duration that still gives a date, in milliseconds: about 1,000 years. */
export const longestDuration = 31_556_952_000_000

/** Returns milliseconds from outside (a header, an issuer, a store) as a number from 0 to `longest`; NaN counts as 0. */
export function finiteDuration(ms: number, longest: number = longestDuration): number {
  return ms > 0 ? Math.min(ms, longest) : 0
}

/** Returns the moment `ms` from now in ISO 8601, for any `ms`. */
export function dateFromNow(ms: number): string {
  return new Date(Date.now() + finiteDuration(ms)).toISOString()
}
