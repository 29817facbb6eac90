/** The longest delay that a timer takes, in milliseconds: one that is set for more fires at once. */
export const longestTimer = 2_147_483_647

/** Sets a timer, 1 ms at least, rounded to the nearest: rounding up would cost 10 % of 100 calls a second with `spread`. */
export function queueTimer(ms: number, act: () => void): ReturnType<typeof setTimeout> {
  return setTimeout(act, Math.min(Math.max(1, Math.round(ms)), longestTimer))
}
