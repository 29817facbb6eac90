import { expect, test } from 'vitest'
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
])('%j is %j ms', (value, expected) => {
  expect(parseRetryAfter(value, now)).toBe(expected)
})

test.each([null, undefined, '', '-5', '1.5', '1e3', 'soon', '2026-11-21', 'Sat, 99 Foo 2026 12:00:30 GMT'])(
  '%j is no Retry-After',
  (value) => {
    expect(parseRetryAfter(value, now)).toBeUndefined()
  },
)
