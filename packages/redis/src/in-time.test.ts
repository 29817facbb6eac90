import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { inTime } from './in-time.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => vi.useRealTimers())

test('an answer 1 ms before the time is over counts, and none at its end', async () => {
  const answer = new Promise((resolve) => setTimeout(resolve, 499, 'here'))
  const answered = inTime(answer, 500)
  const late = inTime(new Promise(() => {}), 500)
  const failed = expect(late).rejects.toThrow('no answer in 500 ms')
  await vi.advanceTimersByTimeAsync(499)
  expect(await answered).toBe('here')
  await vi.advanceTimersByTimeAsync(1)
  await failed
})

test.each([2 ** 31 - 1, 2 ** 31, Number.MAX_VALUE])('%d ms are no short time', async (ms) => {
  const answered = inTime(new Promise((resolve) => setTimeout(resolve, 60_000, 'here')), ms)
  answered.catch(() => {})
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await answered).toBe('here')
})
