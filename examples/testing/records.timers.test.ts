import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fakeTokens } from '@tokenlane/core/testing'
import { createTokens } from './manager.ts'
import { createRecords } from './records.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('fake tokens need no timer, and never expire', async () => {
  const records = createRecords(
    fakeTokens({ apis: ['https://api.example.com/'] }),
    async () => Response.json({ id: 'A1' }),
  )
  vi.advanceTimersByTime(24 * 60 * 60 * 1_000)
  expect(await records.read('A1')).toEqual({ id: 'A1' })
  expect(vi.getTimerCount()).toBe(0)
})

test("a manager's token expires by the fake clock", async () => {
  const issued = vi.fn(async () =>
    Response.json({
      access_token: 'test-token',
      token_type: 'Bearer',
      expires_in: 3600,
    }),
  )
  const tokens = createTokens({ fetch: issued })
  await tokens.getToken('general')
  vi.advanceTimersByTime(2 * 60 * 60 * 1_000)
  await tokens.getToken('general')
  expect(issued).toHaveBeenCalledTimes(2)
  expect(vi.getTimerCount()).toBe(0)
})
