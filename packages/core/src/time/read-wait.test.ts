import fc from 'fast-check'
import { expect, test } from 'vitest'
import { longestDuration } from './duration.ts'
import { readWait } from './read-wait.ts'

const now = Date.UTC(2026, 10, 21, 12, 0, 0)
const read = (text: string | null | undefined): number | undefined => readWait(text, () => now)

test.each([
  ['0', 0],
  ['1', 1_000],
  [' 120 ', 120_000],
  ['"30"', 30_000],
  // Microsoft Graph, SpaceTraders, Shopify
  ['2.128', 2_128],
  ['0.493', 493],
  ['2.0', 2_000],
  ['9.997', 9_997],
  ['.5', 500],
  ['999999999', 999_999_999_000],
  // the first number that can only be an epoch
  ['1000000000', 0],
])('%j is %j ms', (text, expected) => {
  expect(read(text)).toBe(expected)
})

test.each([
  ['4s', 4_000],
  ['500ms', 500],
  ['500 ms', 500],
  ['250µs', 0.25],
  ['250us', 0.25],
  ['6m0s', 360_000],
  ['1h2m3.5s', 3_723_500],
  ['30 seconds', 30_000],
  ['1 second', 1_000],
  ['5 min', 300_000],
  ['2 minutes 30 seconds', 150_000],
  ['1 hour', 3_600_000],
  ['1 day', 86_400_000],
  ['PT30S', 30_000],
  ['PT1M30.5S', 90_500],
  ['P1DT2H', 93_600_000],
  ['P1D', 86_400_000],
  ['P0D', 0],
  ['P1W', 604_800_000],
  ['1 week', 604_800_000],
  ['250msec', 250],
  ['30 sec.', 30_000],
  ['1 minute and 30 seconds', 90_000],
  ['00:01:30', 90_000],
  ['1.00:00:30.5000000', 86_430_500],
])('the span %j is %j ms', (text, expected) => {
  expect(read(text)).toBe(expected)
})

test.each([
  [`${now / 1_000 + 60}`, 60_000],
  [`${now / 1_000 + 60}.25`, 60_250],
  [`${now + 60_000}`, 60_000],
  [`${now + 60_000}000`, 60_000],
  [`${now + 60_000}000000`, 60_000],
  ['1.79526246E9', 60_000],
  ['1.79526246e+15', 60_000],
  [`${now / 1_000 - 60}`, 0],
])('the epoch %j is %j ms away', (text, expected) => {
  expect(read(text)).toBe(expected)
})

test.each([
  ['Sat, 21 Nov 2026 12:00:30 GMT', 30_000],
  ['2026-11-21T12:00:30Z', 30_000],
  // what Java prints of a moment with a zone
  ['2026-11-21T13:00:30+01:00[Europe/Paris]', 30_000],
  ['Sat, 21 Nov 2026 11:59:59 GMT', 0],
  ['Fri, 31 Dec 9999 23:59:59 GMT', longestDuration],
])('the date %j is %j ms away', (text, expected) => {
  expect(read(text)).toBe(expected)
})

test.each([
  ['30, 30', 30_000],
  ['1,120', 120_000],
  ['soon, 30', 30_000],
  ['30s, 1m', 60_000],
  ['120, Sat, 21 Nov 2026 12:00:30 GMT', 120_000],
  ['Sat, 21 Nov 2026 12:00:30 GMT, Saturday, 21-Nov-26 12:00:40 GMT', 40_000],
])('a header that was sent twice counts by its longest wait: %j is %j ms', (text, expected) => {
  expect(read(text)).toBe(expected)
})

test.each([
  null,
  undefined,
  '',
  ' ',
  ',',
  '-5',
  '+5',
  '1e3',
  '1.2.3',
  '0x10',
  'NaN',
  'Infinity',
  'null',
  'unknown',
  'soon',
  '2026-11-21',
  'Sat, 99 Foo 2026 12:00:30 GMT',
  '5 apples',
  '3 months',
  's',
  'PT',
  'P1M',
  '99:99:99',
  '9'.repeat(310),
  '1e300',
  '1'.repeat(2_000),
  '1s'.repeat(600),
])('%j is no answer', (text) => {
  expect(read(text)).toBeUndefined()
})

test('every way in which a server writes an instant is read within a microsecond or its own rounding', () => {
  const ahead = fc.integer({ min: 0, max: 10 * 365 * 86_400_000 })
  fc.assert(
    fc.property(ahead, fc.integer({ min: 1e12, max: 4e12 }), (ms, clock) => {
      const at = clock + ms
      const wait = (text: string): number => readWait(text, () => clock) ?? Number.NaN
      for (const text of [`${at}`, `${at}000`, `${at}000000`, `${at / 1_000}`, new Date(at).toISOString()])
        expect(wait(text)).toBeCloseTo(ms, 0)
      const whole = Math.max(0, Math.ceil(at / 1_000) * 1_000 - clock)
      for (const text of [`${Math.ceil(at / 1_000)}`, new Date(clock + whole).toUTCString()])
        expect(wait(text)).toBe(whole)
    }),
    { numRuns: 1_000 },
  )
})

test('every way in which a server writes a span is read as long as it is', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 86_399_999 }), (ms) => {
      const [h, m, s] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, (ms / 1_000) % 60]
      const clock = new Date(ms).toISOString().slice(11, -1)
      const [go, iso] = [`${h}h${m}m${s.toFixed(3)}s`, `PT${h}H${m}M${s.toFixed(3)}S`]
      for (const text of [`${ms / 1_000}`, `${ms}ms`, `${ms * 1_000}us`, `${ms / 1_000} sec`, go, iso, clock])
        expect(read(text)).toBeCloseTo(ms, 3)
    }),
    { numRuns: 1_000 },
  )
})

const junk = fc.oneof(
  fc.string(),
  fc.stringMatching(/^[0-9.,:;"'a-zA-Z +-]*$/),
  fc.integer().map(String),
  fc.double().map(String),
  fc.nat({ max: 400 }).map((digits) => '9'.repeat(digits)),
)

test('whatever a server writes, the wait is finite, not negative and bounded, or there is none', () => {
  fc.assert(
    fc.property(junk, fc.constantFrom(1, 1_000), (text, unit) => {
      const wait = readWait(text, () => now, unit) ?? 0
      expect(wait).toBeGreaterThanOrEqual(0)
      expect(wait).toBeLessThanOrEqual(longestDuration)
    }),
    { numRuns: 5_000 },
  )
})
