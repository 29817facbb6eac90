import { once } from 'node:events'

import { HTTPError, TimeoutError, type Hooks } from 'ky'
import { describe, expect, test, vi } from 'vitest'

import { weblink, client, failure, lane, holding, until, stopTimers, useService } from './support.ts'

await useService()

describe("ky's clocks", () => {
  test.each(['at first', 'on a retry', 'on a retry with another request'])(
    '`timeout` does not count the wait for a turn %s',
    async (when) => {
      await stopTimers()
      const { waiting, fetch } = holding()
      const statuses = when === 'at first' ? [] : [503]
      const others: Promise<unknown>[] = []
      const goesFirst = async (): Promise<void> => {
        others.push(client(weblink('records'), { fetch, timeout: false }))
        await until(() => waiting.length === 1)
      }
      const hooks: Hooks = {
        beforeRequest: when === 'at first' ? [goesFirst] : [],
        beforeRetry: [
          async ({ request }) => {
            await goesFirst()
            return when === 'on a retry' ? undefined : new Request(request)
          },
        ],
      }
      const call = client(weblink('records'), {
        fetch: async (request) => {
          const status = statuses.pop()
          return status === undefined ? fetch(request) : new Response(null, { status })
        },
        hooks,
        retry: { limit: 1, delay: () => 0 },
        timeout: 1_000,
      })
      if (when !== 'at first') {
        await until(() => statuses.length === 0)
        await vi.advanceTimersByTimeAsync(0)
      }
      await until(() => lane().queued === 1)
      await vi.advanceTimersByTimeAsync(5_000)
      waiting[0]?.()
      await until(() => waiting.length === 2)
      await vi.advanceTimersByTimeAsync(999)
      waiting[1]?.()
      expect((await call).status).toBe(200)
      await Promise.all(others)
    },
  )

  test('`timeout` counts an attempt', async () => {
    await stopTimers()
    const { waiting, fetch } = holding()
    const call = failure(client(weblink('records'), { fetch, timeout: 1_000 }))
    await until(() => waiting.length === 1)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await call).toBeInstanceOf(TimeoutError)
  })

  test('`totalTimeout` counts the wait, and ends it', async () => {
    await stopTimers()
    const { waiting, fetch } = holding()
    const other = client(weblink('records'), { fetch, timeout: false })
    await until(() => waiting.length === 1)
    const call = failure(client(weblink('records'), { fetch, totalTimeout: 1_000 }))
    await until(() => lane().queued === 1)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await call).toBeInstanceOf(TimeoutError)
    expect(lane()).toEqual({ running: 1, queued: 0 })
    waiting[0]?.()
    await other
    expect(waiting).toHaveLength(1)
  })
})

test('a `beforeError` hook sees the signal of the last attempt, not the one that a timeout ended', async () => {
  let sends = 0
  const fetch = (async (input: Request) => {
    sends += 1
    if (sends === 2) return new Response('', { status: 500 })
    await once(input.signal, 'abort')
    throw input.signal.reason
  }) as unknown as typeof globalThis.fetch
  const aborted: (boolean | undefined)[] = []
  const call = client('https://example.com/', {
    fetch,
    timeout: 20,
    retry: { limit: 1, retryOnTimeout: true, delay: () => 0 },
    hooks: {
      beforeError: [
        ({ error, options }) => {
          aborted.push(options.signal?.aborted)
          return error
        },
      ],
    },
  })
  await expect(call).rejects.toBeInstanceOf(HTTPError)
  expect(aborted).toEqual([false])
})
