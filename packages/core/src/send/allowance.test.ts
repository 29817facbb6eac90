import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Allowance } from './allowance.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

test('3 times at once, and once more each 10 s', () => {
  const allowance = new Allowance(3, 10_000)
  const take = (): boolean => allowance.take()
  expect([take(), take(), take(), take()]).toEqual([true, true, true, false])
  vi.advanceTimersByTime(9_999)
  expect(take()).toBe(false)
  vi.advanceTimersByTime(1)
  expect([take(), take()]).toEqual([true, false])
  vi.advanceTimersByTime(3_600_000)
  expect([take(), take(), take(), take()]).toEqual([true, true, true, false])
})
