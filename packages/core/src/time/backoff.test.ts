import { afterEach, expect, test, vi } from 'vitest'
import { backoff } from './backoff.ts'

afterEach(() => vi.restoreAllMocks())

test('doubles with each failure in a row, up to the longest pause', () => {
  const pauseAfter = backoff({ first: 250, most: 2_000, jitter: 'none' })
  expect([1, 2, 3, 4, 5, 1e9].map(pauseAfter)).toEqual([250, 500, 1_000, 2_000, 2_000, 2_000])
})

test.each([
  ['none', 0, 1_000],
  ['half', 0, 500],
  ['half', 0.999_999, 1_000],
  ['whole', 0, 0],
  ['whole', 0.999_999, 1_000],
] as const)('with jitter %s, a drawn %d makes 1,000 ms %d ms', (jitter, drawn, pause) => {
  vi.spyOn(Math, 'random').mockReturnValue(drawn)
  expect(backoff({ first: 1_000, most: 60_000, jitter })(1)).toBeCloseTo(pause, 0)
})
