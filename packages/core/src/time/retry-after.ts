import { finiteDuration } from './finite-duration.ts'
import { parseHttpDate } from './http-date.ts'

/** Numbers from here on are epochs in seconds, and in milliseconds: as delays they would be 31 years and more. */
const firstEpochSecond = 1_000_000_000
const firstEpochMillisecond = 1_000_000_000_000

/**
 * Reads a `Retry-After` field (RFC 9110 §10.2.3): seconds, or one of the three HTTP dates. A number that can only be
 * an epoch, which some gateways send, is read as one.
 *
 * @param now Returns the epoch milliseconds that a date is compared with: the response's own `Date`, or else this clock.
 * @returns Finite milliseconds from `now`, 0 for a date that is past, `undefined` for any other text.
 */
export function parseRetryAfter(value: string | null | undefined, now: () => number): number | undefined {
  const text = value?.trim()
  if (!text) return undefined
  if (/^\d+$/.test(text)) return delayOf(Number(text), now)
  const date = parseHttpDate(text)
  return date === undefined ? undefined : finiteDuration(date - now())
}

/** Returns the milliseconds from `now` that a number stands for: seconds, or an epoch in seconds or milliseconds. */
export function delayOf(number: number, now: () => number): number {
  if (number < firstEpochSecond) return number * 1_000
  return finiteDuration((number < firstEpochMillisecond ? number * 1_000 : number) - now())
}
