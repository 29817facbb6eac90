import { finiteDuration } from './duration.ts'
import { readInstant } from './read-instant.ts'

/** Some gateways send the first or the second beside the coarser third (RFC 9110 §10.2.3). */
export const retryAfter: readonly string[] = ['retry-after-ms', 'x-ms-retry-after-ms', 'retry-after']

/** Returns the unit of a plain number in a header of this name, in milliseconds. */
export function unitOf(name: string): number {
  return /-(?:ms|milliseconds)$/.test(name) ? 1 : 1_000
}

/** A longer header is ignored. */
const longestHeader = 1_024
/** What separates the values of a header that was sent twice: a comma, but for the one in `Sat, 21 Nov 2026`. */
const separator = /(?<!\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}),/i

/**
 * Reads how long to wait from a header, in any form in which servers write that: a number, an epoch in seconds,
 * milliseconds, microseconds or nanoseconds, a span with units, a date. Of several values, the longest wait counts.
 *
 * @param now Returns the epoch milliseconds that an instant is compared with: the response's own `Date`, or else this clock.
 * @param unit What a number without a unit stands for, in milliseconds.
 * @returns Finite milliseconds from `now`, 0 for an instant that is past, `undefined` for text that is none of these.
 */
export function readWait(
  value: string | null | undefined,
  now: () => number,
  unit = 1_000,
): number | undefined {
  if (typeof value !== 'string' || value.length > longestHeader) return undefined
  const waits = value.split(separator).flatMap((part) => {
    const text = part.trim().replace(/^"(.*)"$/, '$1')
    const span = spanOf(text, unit)
    const instant = span === undefined ? (epochOf(text) ?? readInstant(text)) : undefined
    const wait = instant === undefined ? span : instant - now()
    return wait === undefined ? [] : [finiteDuration(wait)]
  })
  return waits.length === 0 ? undefined : Math.max(...waits)
}

/** Numbers from here on are epochs: as seconds they would be 31 years and more. */
const firstEpoch = 1_000_000_000
/** The end of the year 9999, in epoch milliseconds. */
const lastInstant = 253_402_300_799_999
const number = String.raw`\d{1,20}(?:\.\d*)?|\.\d+`
const wholeNumber = new RegExp(`^(?:${number})$`)
/** A double, as Java and Lua print a large one. */
const exponential = /^\d(?:\.\d+)?e\+?\d\d?$/i

/** Returns the epoch milliseconds of a number that can only be an epoch: in the largest unit that gives a date. */
function epochOf(text: string): number | undefined {
  if (!wholeNumber.test(text) && !exponential.test(text)) return undefined
  if (Number(text) < firstEpoch || Number(text) > 1e20) return undefined
  let ms = Number(text) * 1_000
  while (ms > lastInstant) ms /= 1_000
  return ms
}

/** The units of a span by how they begin, in milliseconds. */
const units: readonly (readonly [form: RegExp, ms: number])[] = [
  [/^n/, 1e-6],
  [/^(?:[uµμ]|mic)/, 1e-3],
  [/^m(?:s|il)/, 1],
  [/^s/, 1_000],
  [/^m/, 60_000],
  [/^h/, 3_600_000],
  [/^d/, 86_400_000],
  [/^w/, 604_800_000],
]
const unitName = String.raw`(?:[nuµμm]?s|(?:nano|micro|milli|m)?sec(?:ond)?s?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)`
const withUnits = new RegExp(String.raw`^(?:(?:${number})\s*${unitName}\.?\s*(?:and\s)?)+$`)
const oneWithUnit = new RegExp(String.raw`(${number})\s*([a-zµμ]+)`, 'g')

/** Returns the milliseconds of a span: `9.5`, `4s`, `500 ms`, `1m30s` (Go), `PT1M30S` (ISO 8601), `00:01:30` (.NET). */
function spanOf(text: string, unit: number): number | undefined {
  if (wholeNumber.test(text)) return Number(text) < firstEpoch ? Number(text) * unit : undefined
  const spelled = text
    .toLowerCase()
    .replace(/^p(\d+[dw])?(?:t(?=[\d.])|$)/, '$1')
    .replace(
      /^(?:(\d+)\.)?(\d\d):([0-5]\d):([0-5]\d(?:\.\d+)?)$/,
      (_, days = '0', h, m, s) => `${days}d${h}h${m}m${s}s`,
    )
  if (!withUnits.test(spelled)) return undefined
  return [...spelled.matchAll(oneWithUnit)].reduce((sum, [, count, name = '']) => {
    const [, ms = 0] = units.find(([form]) => form.test(name)) ?? []
    return sum + Number(count) * ms
  }, 0)
}
