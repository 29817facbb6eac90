/** The longest time for which a unit may block new grants, in milliseconds. No outage stops an API for longer. */
const longestSpan = 60_000
/**
 * By how much longer than `reconnectTime` a process sends nothing, as a part of it: an outage that is just long
 * enough for Redis to wait for the others takes ioredis 7.3 s with the default of 6 s.
 */
const beforeFallback = 0.25
/** What was granted ahead is still used, and may be reported late, by this and by a half of the span, in milliseconds at most. */
const lateness = 200
const mostLate = 1_000
/** By default ioredis waits up to 5.2 s between attempts to connect, and redis up to 2.2 s. */
export const defaultReconnectTime = 6_000
/** For how long Redis must refuse a process before that process takes it to be gone for all, in milliseconds. */
export const shortestOutage = 1_000

/** Returns for how long a unit may count after it was granted. A Redis that does not know of earlier grants waits that long. */
export function unitLifetime(span: number): number {
  return Math.min(longestSpan, span) + Math.min(mostLate, lateness + span / 2)
}

/**
 * Returns for how long a process that cannot reach Redis sends nothing, once Redis has been gone for all for `goneFor`
 * milliseconds: until all that it granted to others is out of the window. Where that is not known (`-Infinity`), long
 * enough for a slow response and for a client that connects again.
 */
export function silenceBeforeFallback(lifetime: number, reconnectTime: number, goneFor: number): number {
  if (goneFor >= 0) return Math.max(0, lifetime - goneFor)
  return Math.max(lifetime, reconnectTime * (1 + beforeFallback))
}
