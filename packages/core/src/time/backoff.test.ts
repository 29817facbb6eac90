import { afterEach, expect, test, vi } from 'vitest'
import { backoff, betweenHalfAndWhole } from './backoff.ts'

afterEach(() => vi.restoreAllMocks())

test('doubles with each failure in a row, up to the longest pause', () => {
  const pauses = [1, 2, 3, 4, 5, 1e9].map((failures) => backoff(failures, { first: 250, most: 2_000 }))
  expect(pauses).toEqual([250, 500, 1_000, 2_000, 2_000, 2_000])
})

test.each([
  [0, 500],
  [0.999_999, 1_000],
])('a drawn %d makes 1,000 ms %d ms', (drawn, pause) => {
  vi.spyOn(Math, 'random').mockReturnValue(drawn)
  expect(betweenHalfAndWhole(1_000)).toBeCloseTo(pause, 0)
})
