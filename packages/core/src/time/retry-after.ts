import { finiteDuration } from './finite-duration.ts'

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
  const text = value?.trim() ?? ''
  if (/^\d+$/.test(text)) return delayOf(Number(text), now)
  const date = parseHttpDate(text)
  return date === undefined ? undefined : finiteDuration(date - now())
}

/** Returns the milliseconds from `now` that a number stands for: seconds, or an epoch in seconds or milliseconds. */
export function delayOf(number: number, now: () => number): number {
  if (number < firstEpochSecond) return number * 1_000
  return finiteDuration((number < firstEpochMillisecond ? number * 1_000 : number) - now())
}

/** The form of the three HTTP dates (RFC 9110 §5.6.7). The one of `asctime` ends with the year, and names no zone. */
const httpDate = /^[A-Z][a-z]{2,8},? [\w -]{6,11} \d{2}:\d{2}:\d{2} (?:GMT|\d{4})$/

/** Returns the epoch milliseconds of an HTTP date, `undefined` for any other text. */
export function parseHttpDate(value: string | null | undefined): number | undefined {
  const text = value?.trim() ?? ''
  if (!httpDate.test(text)) return undefined
  const date = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(date) ? undefined : date
}
