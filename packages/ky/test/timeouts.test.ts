import { once } from 'node:events'

import * as newest from 'ky'
import { HTTPError, TimeoutError, type Hooks } from 'ky'
import * as ky200 from 'ky-2'
import * as ky201 from 'ky-2.0'
import * as ky202 from 'ky-2.1'
import { describe, expect, test, vi } from 'vitest'

import { kyTokens } from '../src/index.ts'
import {
  weblink,
  client,
  failure,
  lane,
  holding,
  holdIssuer,
  until,
  stopTimers,
  tokens,
  useService,
} from './support.ts'

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

const copies = { '2.0.0': ky200, '2.0.1': ky201, '2.0.2': ky202, newest } as unknown as Record<
  string,
  typeof newest
>

describe.each(Object.entries(copies))(
  'the end of a wait for a token, with ky %s beside others',
  (_, { default: ky, TimeoutError: Own }) => {
    const timedOut = ky.create({ retry: 0, timeout: 20 })

    test("is the caller's own TimeoutError, whose `cause` says why there was no token", async () => {
      holdIssuer()
      const seen: unknown[] = []
      const hooks = { beforeError: [({ error }: { error: Error }) => (seen.push(error.cause), error)] }
      const extended = timedOut.extend({ hooks }).extend(kyTokens(tokens))
      const request = new Request(weblink('records'))
      const error = (await failure(extended(request))) as InstanceType<typeof Own>
      expect(error).toBeInstanceOf(Own)
      expect(error.message).toBe(`Request timed out: GET ${request.url}`)
      expect(error.request.url).toBe(request.url)
      expect(error.cause).toMatchObject({ code: 'TOKEN_REQUEST_TIMEOUT', issuer: 'weblink' })
      expect(seen).toEqual([error.cause])
    })

    test('is the same with `totalTimeout`, and where a later hook sets another `timeout`', async () => {
      holdIssuer()
      const extended = timedOut.extend(kyTokens(tokens))
      const init = [(options: { timeout?: number | false }) => void (options.timeout = 30)]
      for (const options of [
        { totalTimeout: 60_000 },
        { hooks: { init } },
        { timeout: 30, hooks: { init } },
      ]) {
        const error = await failure(extended(weblink('records'), options as never))
        expect(error).toBeInstanceOf(Own)
        expect((error as Error).cause).toMatchObject({ code: 'TOKEN_REQUEST_TIMEOUT' })
      }
    })

    test('is retried where `retryOnTimeout` says so, with a wait of its own', async () => {
      holdIssuer()
      const retries: unknown[] = []
      const beforeRetry = [({ error }: { error: Error }) => void retries.push(error instanceof Own)]
      const call = timedOut.extend(kyTokens(tokens))(weblink('records'), {
        retry: { limit: 2, retryOnTimeout: true, delay: () => 0 },
        hooks: { beforeRetry },
      })
      expect(await failure(call)).toBeInstanceOf(Own)
      expect(retries).toEqual([true, true])
    })

    test("leaves a call that the caller aborts meanwhile its signal's reason", async () => {
      holdIssuer()
      const controller = new AbortController()
      const reason = new Error('no longer')
      const call = failure(
        timedOut.extend(kyTokens(tokens))(weblink('records'), {
          timeout: 60_000,
          signal: controller.signal,
        }),
      )
      controller.abort(reason)
      expect(await call).toBe(reason)
    })
  },
)

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
