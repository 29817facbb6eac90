import type { OutgoingHttpHeaders } from 'node:http'

import { count, inSeconds } from '../in-words.ts'
import { problem, type Answer } from '../server/answer.ts'
import type { ServerClock } from '../server/server-clock.ts'
import type { StrictRatePolicy, WindowUsage } from './strict-rate.ts'

export function overTheLimit(usage: readonly WindowUsage[]): string {
  const over = usage.find(({ used, quota }) => used > quota)
  if (over === undefined) return 'over the limit'
  return `over the limit: ${count(over.used)} of ${count(over.quota)} in ${inSeconds(over.window)}`
}

/**
 * Returns the 429 response to a call over the limit. Its client may retry after `wait` milliseconds, which are rounded up
 * because `Retry-After` has whole seconds only (RFC 9110 §10.2.3).
 */
export function tooManyCalls(
  wait: number,
  retryAfter: StrictRatePolicy['retryAfter'],
  clock: ServerClock,
): Answer {
  const headers: OutgoingHttpHeaders = {}
  if (retryAfter === 'date') {
    headers['retry-after'] = new Date(Math.ceil((clock.epoch() + wait) / 1_000) * 1_000).toUTCString()
  } else if (retryAfter !== false) headers['retry-after'] = `${Math.ceil(wait / 1_000)}`
  return problem(429, 'More calls arrived than the rate policy allows', headers)
}
