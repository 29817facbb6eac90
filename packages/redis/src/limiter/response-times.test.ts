import { expect, test } from 'vitest'
import { ResponseTimes, promiseOf } from './response-times.ts'
import { lease } from './ledger.ts'

test('of steady responses all are promised, and one that was slow does not count', () => {
  expect(promiseOf([20, 20, 20, 21, 20, 300], 1_000)).toBeCloseTo(22.21)
})

test('of responses that differ a little the slow ones are promised too', () => {
  expect(promiseOf([5, 15, 25, 35, 45, 30, 20, 10], 1_000)).toBeCloseTo(36.35)
})

test('nothing is promised where responses differ much, or take long', () => {
  expect(promiseOf([10, 10, 200, 200], 1_000)).toBe(lease)
  expect(promiseOf([10, 10, 200, 200], 60_000)).toBeLessThan(lease)
  expect(promiseOf([500], 1_000)).toBe(lease)
  expect(promiseOf([1_500], 60_000)).toBe(lease)
})

test('a process promises by itself with ten responses in a minute, and by the last 20', () => {
  const times = new ResponseTimes()
  for (let count = 0; count < 9; count += 1) times.add(400, 0)
  expect(times.promise(0, 60_000)).toBeUndefined()
  times.add(400, 0)
  expect(times.promise(59_999, 60_000)).toBeCloseTo(405)
  expect(times.promise(60_000, 60_000)).toBeUndefined()
  for (let count = 0; count < 20; count += 1) times.add(20, 50_000)
  expect(times.mean).toBe(20)
})

test('the fleet hears of each response once, and of the last five at most', () => {
  const times = new ResponseTimes()
  for (let count = 1; count <= 7; count += 1) times.add(count, 0)
  expect(times.report()).toEqual([3, 4, 5, 6, 7])
  expect(times.report()).toEqual([])
})
