import { expect, test } from 'vitest'
import { longestDuration } from './finite-duration.ts'
import { parseRetryAfter } from './retry-after.ts'

const now = Date.UTC(2026, 10, 21, 12, 0, 0)

test.each([
  ['0', 0],
  ['1', 1_000],
  [' 120 ', 120_000],
  ['Sat, 21 Nov 2026 12:00:30 GMT', 30_000],
  ['Saturday, 21-Nov-26 12:00:30 GMT', 30_000],
  ['Sat Nov 21 12:00:30 2026', 30_000],
  ['Sat, 21 Nov 2026 11:59:59 GMT', 0],
  ['999999999', 999_999_999_000],
  // the first number that can only be an epoch
  ['1000000000', 0],
  [`${now / 1_000 + 60}`, 60_000],
  [`${now + 60_000}`, 60_000],
  ['9'.repeat(310), longestDuration],
])('%j is %j ms', (value, expected) => {
  expect(parseRetryAfter(value, () => now)).toBe(expected)
})

test.each([null, undefined, '', '-5', '1.5', '1e3', 'soon', '2026-11-21', 'Sat, 99 Foo 2026 12:00:30 GMT'])(
  '%j is not a Retry-After',
  (value) => {
    expect(parseRetryAfter(value, () => now)).toBeUndefined()
  },
)
