import { NetworkError } from 'ky'
import { describe, expect, test, vi } from 'vitest'

import { weblink, client, admitted, answering, holding, until, stopTimers, useService } from './support.ts'

await useService()

describe("ky's retries", () => {
  test('wait for their turn each', async () => {
    const { seen, fetch } = answering(503, 503, 200)
    const retry = { limit: 2, delay: () => 1 }
    expect((await client(weblink('records'), { fetch, retry })).status).toBe(200)
    expect([seen.length, admitted()]).toEqual([3, 3])
  })

  test('come after a network error', async () => {
    const { fetch } = answering()
    let failures = 1
    const failing = async (request: unknown): Promise<Response> => {
      if (failures-- > 0) throw new TypeError('fetch failed')
      return fetch(request)
    }
    await expect(client(weblink('records'), { fetch: failing })).rejects.toThrow(NetworkError)
    failures = 1
    const retry = { limit: 1, delay: () => 1 }
    expect((await client(weblink('records'), { fetch: failing, retry })).status).toBe(200)
    expect(admitted()).toBe(3)
  })

  test('come after a timeout', async () => {
    await stopTimers()
    const { waiting, fetch } = holding()
    const retry = { limit: 1, retryOnTimeout: true, delay: () => 0 }
    const call = client(weblink('records'), { fetch, retry, timeout: 1_000 })
    await until(() => waiting.length === 1)
    await vi.advanceTimersByTimeAsync(1_000)
    await vi.advanceTimersByTimeAsync(1)
    await until(() => waiting.length === 2)
    waiting[1]?.()
    expect((await call).status).toBe(200)
    expect(admitted()).toBe(2)
  })
})
