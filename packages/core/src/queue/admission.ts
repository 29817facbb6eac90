import { TokenlaneError } from '../errors.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { CheckedPolicy } from './rate-policy.ts'

/** The queued calls, and what they wait for. */
export interface Backlog {
  readonly queued: number
  readonly running: number
  readonly concurrency: number
  readonly limiter: Pick<RateLimiter, 'forecast'>
  /** On the monotonic clock. */
  readonly pausedUntil: number
}

/** Whether the policy ever refuses a call that would have to wait. */
export function isBounded({ maxQueued, maxWait }: CheckedPolicy): boolean {
  return maxQueued < Infinity || maxWait !== undefined
}

/**
 * Refuses a call that would be one too many, or that by the limits alone would wait too long at its place.
 *
 * @throws TokenlaneError `QUEUE_FULL` or `QUEUE_TIMEOUT`.
 */
export function mustHaveRoom(
  api: string,
  { maxQueued, maxWait }: CheckedPolicy,
  backlog: Backlog,
  place: number,
): void {
  const tooMany = backlog.queued + 1 - maxQueued
  // calls that could go if there were a token do not count
  if (tooMany > 0 && !couldGo(tooMany, backlog))
    throw new TokenlaneError(
      'QUEUE_FULL',
      `Cannot queue call to ${api}: ${maxQueued} calls are queued already, which \`maxQueued\` of its rate policy allows at most`,
    )
  if (maxWait === undefined) return
  if (backlog.limiter.forecast(place, 0, backlog.pausedUntil) > maxWait) throw waitedTooLong(api, maxWait)
}

/** Returns the error of a call that waits longer than it may. */
export function waitedTooLong(api: string, maxWait: number): TokenlaneError {
  return new TokenlaneError(
    'QUEUE_TIMEOUT',
    `Cannot send call to ${api}: it would be queued for longer than the ${maxWait} ms that \`maxWait\` of its rate policy allows`,
  )
}

/** Whether limits and slots have room for that many calls now. */
function couldGo(calls: number, { running, concurrency, limiter, pausedUntil }: Backlog): boolean {
  return calls <= concurrency - running && limiter.forecast(calls, 0, pausedUntil) === 0
}
