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

/** The longest delay that a timer takes, in milliseconds: one that is set for more fires at once. */
export const longestTimer = 2_147_483_647

/** Sets a timer, 1 ms at least, rounded to the nearest: rounding up would cost 10 % of 100 calls a second with `spread`. */
export function queueTimer(ms: number, act: () => void): ReturnType<typeof setTimeout> {
  return setTimeout(act, Math.min(Math.max(1, Math.round(ms)), longestTimer))
}
