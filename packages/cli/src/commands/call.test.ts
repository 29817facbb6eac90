import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { NoResponse, withTimeLimit } from './call.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const hanging = async (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })

test('a call that gets no response says so after 2 s, and ends after its time limit', async () => {
  const told: string[] = []
  const call = withTimeLimit(30, (text) => told.push(text), hanging)
  const ended = expect(call).rejects.toThrow(new NoResponse('The call failed: no response in 30 s'))
  await vi.advanceTimersByTimeAsync(1_999)
  expect(told).toEqual([])
  await vi.advanceTimersByTimeAsync(28_001)
  expect(told).toEqual(['No response yet: the call waits 30 s at most'])
  await ended
})

test('once the response has begun, nothing is said and nothing is aborted', async () => {
  const tell = vi.fn()
  const signal = await withTimeLimit(30, tell, async (given) => given)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(tell).not.toHaveBeenCalled()
  expect(signal.aborted).toBe(false)
})

test('a call that fails in time fails with its own error', async () => {
  const refused = new Error('ECONNREFUSED')
  await expect(withTimeLimit(30, vi.fn(), async () => Promise.reject(refused))).rejects.toBe(refused)
})
