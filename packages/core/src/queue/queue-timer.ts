import { longestTimer } from '../time/timers.ts'

/**
 * Sets a timer for that many milliseconds, for 1 at least and for as many as a timer takes at most. Rounded: rounded up it
 * would be late by a millisecond, which with `spread` is a tenth of 100 calls a second.
 */
export function queueTimer(ms: number, act: () => void): ReturnType<typeof setTimeout> {
  return setTimeout(act, Math.min(Math.max(1, Math.round(ms)), longestTimer))
}
