import type { OutgoingHttpHeaders } from 'node:http'

import { count, inSeconds } from '../in-words.ts'
import { type Answer, problem } from '../server/answer.ts'
import type { ServerClock } from '../server/server-clock.ts'
import type { RateHeaderDialect, StrictRatePolicy, WindowUsage } from './strict-rate.ts'

/** Returns whole seconds, rounded up: a client that retries earlier than the limit allows is refused. */
const seconds = (ms: number): number => Math.ceil(ms / 1_000)

/**
 * Returns the rate limit headers of a response.
 *
 * @param epoch - the API's own clock, in milliseconds since 1970.
 */
export function rateHeaders(
  dialects: readonly RateHeaderDialect[],
  usage: readonly WindowUsage[],
  epoch: number,
): Record<string, string> {
  const tightest = usage.toSorted((a, b) => remainingOf(a) / a.quota - remainingOf(b) / b.quota)[0]
  const headers: Record<string, string> = {}
  if (tightest === undefined) return headers
  const three = (prefix: string, reset: number): void => {
    headers[`${prefix}-limit`] = `${tightest.quota}`
    headers[`${prefix}-remaining`] = `${remainingOf(tightest)}`
    headers[`${prefix}-reset`] = `${reset}`
  }
  for (const dialect of dialects) {
    if (dialect === 'ratelimit') {
      headers['ratelimit-policy'] = usage
        .map(({ quota, window }, index) => `"limit${index + 1}";q=${quota};w=${seconds(window)}`)
        .join(', ')
      headers['ratelimit'] = usage
        .map((each, index) => `"limit${index + 1}";r=${remainingOf(each)};t=${seconds(resetOf(each))}`)
        .join(', ')
    } else if (dialect === 'ratelimit-limit') three('ratelimit', seconds(resetOf(tightest)))
    else if (dialect === 'x-ratelimit') three('x-ratelimit', seconds(epoch + resetOf(tightest)))
    else three('x-ratelimit', seconds(resetOf(tightest)))
  }
  return headers
}

const remainingOf = ({ quota, used }: WindowUsage): number => Math.max(0, quota - used)

/**
 * Returns after how many milliseconds the next call fits into a full window. If the window is not full, returns when its
 * oldest call leaves it.
 */
const resetOf = ({ wait, reset }: WindowUsage): number => (wait > 0 ? wait : reset)

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
