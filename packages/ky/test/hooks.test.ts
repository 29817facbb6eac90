import ky, { type Hooks } from 'ky'
import { describe, expect, test, vi } from 'vitest'

import {
  sandbox,
  weblink,
  tokenRequests,
  tokens,
  client,
  admitted,
  failure,
  lane,
  answering,
  stopTimers,
  useService,
} from './support.ts'

await useService()

describe("the caller's hooks", () => {
  test('may change the request, and its API, before it waits', async () => {
    const { seen, fetch } = answering()
    const elsewhere: Hooks = {
      beforeRequest: [({ request }) => new Request(`${sandbox.apiUrl}records`, request)],
    }
    await client(weblink('records'), { fetch, hooks: elsewhere })
    const { value } = await tokens.getToken('general')
    expect(seen).toEqual([`Bearer ${value}`])
    expect([admitted(), tokenRequests()]).toEqual([0, 0])
  })

  test('may hand on a request whose `url` is another one than it goes to, which decides', async () => {
    const { seen, fetch } = answering()
    const lying = Object.defineProperty(new Request('https://elsewhere.example/'), 'url', {
      value: weblink('records'),
    })
    await client(weblink('records'), { fetch, hooks: { beforeRequest: [() => lying] } })
    expect(seen).toEqual([null])
    expect(admitted()).toBe(0)
  })

  test('may answer or fail themselves, without a wait', async () => {
    const { fetch } = answering(503)
    const answer = new Response('made up')
    const mock: Hooks = { beforeRequest: [() => answer] }
    expect(await client(weblink('records'), { fetch, hooks: mock })).toBe(answer)
    const error = new Error('no')
    const fail = (): never => {
      throw error
    }
    expect(await failure(client(weblink('records'), { hooks: { beforeRequest: [fail] } }))).toBe(error)
    expect(admitted()).toBe(0)
    const retry = { limit: 1, delay: () => 0 }
    expect(await failure(client(weblink('records'), { fetch, retry, hooks: { beforeRetry: [fail] } }))).toBe(
      error,
    )
    const stop: Hooks = { beforeRetry: [() => ky.stop] }
    sandbox.control.failApi('weblink', { status: 503 })
    expect(await client(weblink('records'), { retry, hooks: stop })).toBeUndefined()
    expect(admitted()).toBe(2)
  })

  test('may ask for a retry', async () => {
    const { fetch } = answering()
    const hooks: Hooks = { afterResponse: [({ retryCount }) => (retryCount === 0 ? ky.retry() : undefined)] }
    const response = await client(weblink('records'), { fetch, hooks, retry: { limit: 1, delay: () => 0 } })
    expect([response.status, admitted()]).toEqual([200, 2])
  })

  test.each([
    ['answers', () => new Response('made up')],
    ['rejects with what is no error', () => Promise.reject('no')],
  ])('added late, one that %s does not keep the turn', async (_, hook) => {
    await stopTimers()
    const late: Hooks = { init: [(options) => options.hooks?.beforeRequest?.push(hook)] }
    await client(weblink('records'), { hooks: late }).catch(() => {})
    expect(lane().running).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(lane().running).toBe(0)
  })

  test('added late, one whose turn lost its timer loses the turn to the timer of another call', async () => {
    await stopTimers()
    const late: Hooks = { init: [(options) => options.hooks?.beforeRequest?.push(() => new Response())] }
    await client(weblink('records'), { hooks: late })
    vi.useRealTimers()
    expect(lane().running).toBe(1)
    await vi.waitFor(async () => {
      await client(`${sandbox.apiUrl}records`)
      expect(lane().running).toBe(0)
    })
  })

  test('added late, one may still bring an Authorization of its own, and the turn is given back', async () => {
    const { seen, fetch } = answering()
    const setsIt: NonNullable<Hooks['beforeRequest']>[number] = ({ request }) =>
      request.headers.set('Authorization', 'Bearer mine')
    const late: Hooks = { init: [(options) => options.hooks?.beforeRequest?.push(setsIt)] }
    await client(weblink('records'), { fetch, hooks: late })
    expect([seen, lane().running]).toEqual([['Bearer mine'], 0])
  })

  test('added late, one that waits is waited for once more', async () => {
    const { seen, fetch } = answering()
    const slow = (): Promise<void> => vi.waitFor(() => expect(lane().running).toBe(0))
    const late: Hooks = { init: [(options) => options.hooks?.beforeRequest?.push(slow)] }
    expect((await client(weblink('records'), { fetch, hooks: late })).status).toBe(200)
    expect([seen.length, admitted()]).toEqual([1, 2])
  })
})
