import { describe, expect, test, vi } from 'vitest'

import {
  bytes,
  calls,
  client,
  failApi,
  failure,
  line,
  occupy,
  retry,
  sandbox,
  sha256,
  useService,
} from './service.ts'

await useService()

describe('the rate policy', () => {
  test('sees every retry of got, each with a current token; a 401 keeps its slot for the next attempt', async () => {
    failApi(503, 2)
    const running: unknown[] = []
    const beforeRetry = (): void => {
      running.push(line()?.running)
      sandbox.control.expireTokens('weblink')
    }
    expect((await client('records', { retry, hooks: { beforeRetry: [beforeRetry] } })).statusCode).toBe(200)
    expect([calls(), running]).toEqual([4, [0, 0, 1]])
  })

  test('makes a call that was over the limit go again, and the third time the caller hears of it', async () => {
    failApi(429, 3)
    expect(await client.post('echo', { body: bytes }).json<object>()).toMatchObject({ sha256 })
    expect(calls()).toBe(4)
    failApi(429, 4)
    expect((await failure(client('records'))).response?.statusCode).toBe(429)
    expect(calls()).toBe(8)
  })

  test('takes a priority', async () => {
    const release = await occupy()
    const order: number[] = []
    const send = async (priority: number): Promise<void> => {
      await client('records', { context: { tokenlane: { priority } } })
      order.push(priority)
    }
    const sending = [send(0)]
    await vi.waitFor(() => expect(line()?.queued).toBe(1))
    sending.push(send(1))
    await vi.waitFor(() => expect(line()?.queued).toBe(2))
    release()
    await Promise.all(sending)
    expect(order).toEqual([1, 0])
  })

  test('refuses options that are none', async () => {
    const invalid = { name: 'TokenlaneError', code: 'INVALID_OPTIONS' }
    for (const tokenlane of [{ priority: 0.5 }, { urgent: true }, 7])
      expect(await failure(client('records', { context: { tokenlane } }))).toMatchObject(invalid)
    expect(calls()).toBe(0)
  })
})
