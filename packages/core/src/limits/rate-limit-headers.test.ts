import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exchangeOf } from '../follow/send-within-api.ts'
import { longestDuration } from '../time/duration.ts'
import { readAsked, readPolicy, readRemaining, type ResponseHead } from './rate-limit-headers.ts'

const clock = Date.UTC(2026, 10, 21, 12)
const epoch = clock / 1_000

/** A 429 of an API whose clock is ours, unless the headers say otherwise. */
function response(headers: Record<string, string>): ResponseHead {
  const all: Record<string, string> = { date: new Date(clock).toUTCString(), ...headers }
  return { status: 429, retryAfter: headers['retry-after'], header: (name) => all[name] }
}

const pauseOf = (head: ResponseHead): number | undefined => readAsked(head, true)

test.each<[Record<string, string>, number]>([
  [{ 'retry-after': '7', ratelimit: '"default";r=0;t=30', 'ratelimit-reset': '60' }, 7_000],
  [{ 'retry-after': '0', 'ratelimit-reset': '60' }, 0],
  [{ 'retry-after': 'soon', ratelimit: '"default";r=0;t=30', 'ratelimit-reset': '60' }, 30_000],
  [{ ratelimit: '"burst";r=0;t=2, "daily";r=0;t=40, "yearly";r=9;t=900' }, 40_000],
  [{ ratelimit: '"a;b,c=d";pk=:cHsdsRa894==:;r=0;t=3' }, 3_000],
  [{ ratelimit: 'default;r=0;t=3' }, 3_000],
  [{ ratelimit: 'limit=100, remaining=0, reset=5' }, 5_000],
  [{ ratelimit: '"default";r=5;t=30', 'ratelimit-reset': '60' }, 60_000],
  [{ 'ratelimit-reset': '60', 'x-ratelimit-reset': '90' }, 60_000],
  [{ 'ratelimit-reset': 'Sat, 21 Nov 2026 12:00:30 GMT' }, 30_000],
  [{ 'x-ratelimit-retry-after': '20', 'x-ratelimit-reset': '90' }, 20_000],
  [{ 'x-ratelimit-reset': `${epoch + 90}` }, 90_000],
  [{ 'x-ratelimit-reset': `${epoch + 90}.5` }, 90_500],
  [{ 'x-ratelimit-reset': `${clock + 90_000}` }, 90_000],
  [{ 'x-rate-limit-reset': `${epoch + 3_600}` }, 3_600_000],
  // the API's clock is an hour ahead
  [{ date: 'Sat, 21 Nov 2026 13:00:00 GMT', 'x-ratelimit-reset': `${epoch + 3_605}` }, 5_000],
])('a 429 with %j pauses for %d ms', (headers, expected) => {
  expect(pauseOf(response(headers))).toBe(expected)
})

test('the reset that a policy names counts where the remaining quota is used up, or not said', () => {
  const names = { remaining: 'x-left', reset: 'x-whole-in' }
  expect(readAsked(response({ 'x-left': '0', 'x-whole-in': '9' }), names)).toBe(9_000)
  expect(readAsked(response({ 'x-whole-in': '9' }), names)).toBe(9_000)
  expect(readAsked(response({ 'x-left': '3', 'x-whole-in': '9' }), names)).toBeUndefined()
  expect(readAsked(response({ 'x-left': '0', 'x-ratelimit-reset': '9' }), names)).toBeUndefined()
})

test('a response asks by the finest of its headers, and by the next one where that is nonsense', () => {
  const asked = (headers: Record<string, string>): number | undefined => pauseOf(response(headers))
  expect(asked({ 'retry-after': '2' })).toBe(2_000)
  expect(asked({ 'retry-after': '2', 'retry-after-ms': '1234.5' })).toBe(1_234.5)
  expect(asked({ 'retry-after': '2', 'x-ms-retry-after-ms': '1234' })).toBe(1_234)
  expect(asked({ 'retry-after': '2', 'retry-after-ms': 'soon' })).toBe(2_000)
  expect(asked({})).toBeUndefined()
})

test.each<Record<string, string>>([
  {},
  { 'retry-after': '-1' },
  { ratelimit: '"default";r=0' },
  { ratelimit: '"default";r=0;t=-1' },
  { ratelimit: '"default";r=zero;t=3' },
  { ratelimit: 'r=0;t=3;"' },
  { 'ratelimit-reset': '0' },
  { 'ratelimit-reset': '1e3' },
  { 'ratelimit-reset': '' },
  { 'x-ratelimit-reset': `${epoch - 5}` },
  { 'x-ratelimit-reset': `9${'0'.repeat(2_000)}` },
])('a 429 with %j names no pause', (headers) => {
  expect(pauseOf(response(headers))).toBeUndefined()
})

test.each<[Record<string, string>, number, number]>([
  [{ ratelimit: '"default";r=50;t=30' }, 50, 30_000],
  [{ ratelimit: '"daily";r=500;t=4000, "burst";r=2;t=1' }, 2, 1_000],
  [{ ratelimit: '"a";r=0;t=1, "b";r=0;t=60' }, 0, 60_000],
  [{ ratelimit: 'limit=100, remaining=7, reset=5', 'ratelimit-remaining': '1' }, 7, 5_000],
  [{ 'ratelimit-remaining': '3', 'ratelimit-reset': '9' }, 3, 9_000],
  [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${epoch + 9}` }, 0, 9_000],
  [{ 'x-rate-limit-remaining': '4', 'x-rate-limit-reset': '9' }, 4, 9_000],
  [{ 'x-ratelimit-remaining': '3', 'x-rate-limit-remaining': '4', 'x-rate-limit-reset': '9' }, 4, 9_000],
])('a response with %j leaves %d calls until %d ms from now', (headers, remaining, resetIn) => {
  expect(readRemaining(response(headers))).toEqual({ remaining, resetIn })
})

test.each<Record<string, string>>([
  {},
  { 'x-ratelimit-remaining': '0' },
  { 'x-ratelimit-remaining': '-1', 'x-ratelimit-reset': '9' },
  { 'ratelimit-remaining': 'NaN', 'ratelimit-reset': '9' },
])('a response with %j says nothing of what remains', (headers) => {
  expect(readRemaining(response(headers))).toBeUndefined()
})

test.each<[Record<string, string>, [number, number][]]>([
  [
    { 'ratelimit-policy': '"burst";q=100;w=60,"daily";q=1000;w=86400' },
    [
      [100, 60_000],
      [1_000, 86_400_000],
    ],
  ],
  [
    { 'ratelimit-policy': '"bytes";q=65535;w=10;qu="content-bytes", "calls";q=5;w=1;qu="requests"' },
    [[5, 1_000]],
  ],
  [{ 'ratelimit-policy': '100;w=10' }, [[100, 10_000]]],
  [
    { 'ratelimit-limit': '100, 100;w=10, 1000;window=3600' },
    [
      [100, 10_000],
      [1_000, 3_600_000],
    ],
  ],
  [{ 'ratelimit-limit': '100' }, []],
  [{ 'ratelimit-policy': '"default";q=0;w=60' }, []],
  [{ 'ratelimit-policy': '"default";q=5;w=0' }, []],
])('%j names the limits %j', (headers, limits) => {
  expect(readPolicy(response(headers))).toEqual(limits.map(([quota, window]) => ({ quota, window })))
})

test('an exchange with a Response is read by its headers', () => {
  const headers = { ratelimit: '"default";r=0;t=30', 'ratelimit-policy': '"default";q=5;w=60' }
  const exchange = exchangeOf(new Response(null, { status: 429, headers }))
  expect(pauseOf(exchange)).toBe(30_000)
  expect(readRemaining(exchange)).toEqual({ remaining: 0, resetIn: 30_000 })
  expect(readPolicy(exchange)).toEqual([{ quota: 5, window: 60_000 }])
})

const names = [
  'date',
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'x-ratelimit-remaining',
  'x-ratelimit-retry-after',
  'x-ratelimit-reset',
  'x-rate-limit-remaining',
  'x-rate-limit-reset',
]
const texts = fc.oneof(
  fc.string(),
  fc.stringMatching(/^[0-9.;,="a-zA-Z\\ -]*$/),
  fc.integer().map(String),
  fc.double().map(String),
  fc.nat({ max: 400 }).map((digits) => '9'.repeat(digits)),
  fc.constantFrom('"\\', '""""', '";;;', 'r=;t=', '"a";r=1;r=2;t=3', ',,,', '=;=;='),
)

test('whatever an API sends, every number is finite, not negative and bounded', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), texts), (headers) => {
      const head = response(headers)
      const { remaining = 0, resetIn = 0 } = readRemaining(head) ?? {}
      for (const ms of [pauseOf(head) ?? 0, resetIn]) {
        expect(ms).toBeGreaterThanOrEqual(0)
        expect(ms).toBeLessThanOrEqual(longestDuration)
      }
      expect(remaining).toBeGreaterThanOrEqual(0)
      expect(remaining).toBeLessThan(1e15)
      for (const { quota, window } of readPolicy(head)) {
        expect(Number.isSafeInteger(quota) && quota >= 1).toBe(true)
        expect(window > 0 && window < Infinity).toBe(true)
      }
    }),
    { numRuns: 2_000 },
  )
})
