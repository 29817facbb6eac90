import { expect, test } from 'vitest'

import { check } from '../allowed.ts'
import { latency, sample, type Latency, createRandom } from './latency.ts'

function sorted(of: Latency, times: number): number[] {
  const random = createRandom(1)
  return Array.from({ length: times }, () => sample(of, random)).toSorted((a, b) => a - b)
}

test('a number is always the same time', () => {
  expect(new Set(sorted(40, 10))).toEqual(new Set([40]))
})

test('two bounds are kept, and used evenly', () => {
  const times = sorted({ min: 10, max: 20 }, 10_000)
  expect(times[0]).toBeGreaterThanOrEqual(10)
  expect(times.at(-1)).toBeLessThanOrEqual(20)
  expect(times[5_000]).toBeCloseTo(15, 0)
})

test('a median and a 99th percentile come out as they were given', () => {
  const times = sorted({ median: 40, p99: 800 }, 100_000)
  expect(times[50_000]).toBeGreaterThan(39)
  expect(times[50_000]).toBeLessThan(41)
  expect(times[99_000]).toBeGreaterThan(720)
  expect(times[99_000]).toBeLessThan(880)
})

test('the same seed gives the same times, another one others', () => {
  const first = (seed: number) => sample({ min: 0, max: 1_000 }, createRandom(seed))
  expect(first(7)).toBe(first(7))
  expect(first(7)).not.toBe(first(8))
})

test.each<[unknown, string]>([
  [-1, '"ms" must be a number from 0 to 2147483647, not -1'],
  [
    '1 s',
    '"ms" must be a number from 0 to 2147483647, a time such as 500ms, 20s, 5m or 1h, { min, max } or { median, p99 }, not \'1 s\'',
  ],
  [{ min: 5, max: 4 }, '"max" must be a number from 5 to 2147483647, not 4'],
  [{ median: 5, p99: 4 }, '"p99" must be a number from 5 to 2147483647, not 4'],
  [{ median: 0, p99: 4 }, '"ms" must be an object whose median is at least 1, not { median: 0, p99: 4 }'],
])('%j is refused', (given, message) => {
  expect(() => check(latency, given, 'ms')).toThrow(message)
})
