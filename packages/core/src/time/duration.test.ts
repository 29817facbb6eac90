import { expect, test } from 'vitest'
import { dateFromNow, finiteDuration, longestDuration } from './duration.ts'

test.each([
  [5, 5],
  [0, 0],
  [-1, 0],
  [Number.NaN, 0],
  [Infinity, longestDuration],
  [-Infinity, 0],
  ['7' as unknown as number, 7],
  [undefined as unknown as number, 0],
])('a duration of %s is %s', (given, taken) => {
  expect(finiteDuration(given)).toBe(taken)
})

test('a duration is at most what is allowed', () => {
  expect(finiteDuration(300_001, 300_000)).toBe(300_000)
})

test.each([0, 1, Infinity, Number.NaN, -1, 1e308])('%s milliseconds from now are a date', (ms) => {
  expect(Date.parse(dateFromNow(ms))).toBeGreaterThanOrEqual(Date.now() - 1_000)
})
