import { createHash } from 'node:crypto'
import { getEventListeners, once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { inspect } from 'node:util'

import type { TokenlaneEvent, TokenManager } from '@tokenlane/core'
import { openService } from '@tokenlane/testing'
import ky, { HTTPError, NetworkError, TimeoutError, type Hooks, type KyInstance, type Options } from 'ky'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { kyTokens } from '../src/index.ts'

const { sandbox, createManager, weblink, outside, redirect, calls, tokenRequests, revoke } =
  await openService()

let tokens: TokenManager
let client: KyInstance
let events: TokenlaneEvent[]
/** Holds token requests while it is there. */
let issuer: PromiseWithResolvers<void> | undefined
let asked: number

beforeEach(() => {
  events = []
  asked = 0
  tokens = managerFor()
  client = bare.extend(kyTokens(tokens))
})

afterEach(async () => {
  vi.useRealTimers()
  issuer?.resolve()
  issuer = undefined
  mustBeIdle()
  await tokens.close()
})

const bare = ky.create({ retry: 0 })

/** The weblink API takes one call at a time. */
function managerFor(): TokenManager {
  return createManager({
    apis: [
      { baseUrl: sandbox.apiUrl, issuer: 'general' },
      { baseUrl: sandbox.weblinkUrl, issuer: 'weblink', ratePolicy: { limits: [], concurrency: 1 } },
    ],
    observe: (event) => events.push(event),
    fetch: async (...request) => {
      asked += 1
      await issuer?.promise
      return globalThis.fetch(...request)
    },
  })
}

type Body = NonNullable<RequestInit['body']>
type Fetch = NonNullable<Options['fetch']>

const bytes = new TextEncoder().encode('héllo wörld')
const sha256 = createHash('sha256').update(bytes).digest('hex')
const admitted = (): number => events.filter(({ type }) => type === 'call.sent').length
const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.fail('the call succeeded'),
    (error: unknown) => error,
  )

function lane(): { running: unknown; queued: unknown } {
  const status = tokens.status().apis.find(({ baseUrl }) => baseUrl === sandbox.weblinkUrl)
  return { running: status?.running, queued: status?.queued }
}

/** Whatever a test did, it gave everything back. */
function mustBeIdle(): void {
  expect(lane()).toEqual({ running: 0, queued: 0 })
}

/** A `fetch` that answers with these statuses, one after the other, and keeps what it was asked. */
function answering(...statuses: number[]) {
  const seen: (string | null)[] = []
  const fetch = async (request: unknown): Promise<Response> => {
    seen.push((request as Request).headers.get('authorization'))
    return new Response(null, { status: statuses.shift() ?? 200 })
  }
  return { seen, fetch }
}

/** A `fetch` that keeps its calls waiting until they are answered or aborted. */
function holding() {
  const waiting: (() => void)[] = []
  const fetch = async (input: unknown): Promise<Response> => {
    const { signal } = input as Request
    const { promise, resolve, reject } = Promise.withResolvers<Response>()
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    waiting.push(() => resolve(new Response('late')))
    return promise
  }
  return { waiting, fetch }
}

/** Waits for what comes without a timer: `vi.waitFor` would let fake ones go on. */
async function until(condition: () => boolean): Promise<void> {
  for (let turns = 0; turns < 1_000 && !condition(); turns += 1)
    await new Promise((resolve) => setImmediate(resolve))
  if (!condition()) throw new Error(`did not come: ${String(condition)}`)
}

/** Stops the timers, and sees to it that no token has to be asked for meanwhile. */
async function stopTimers(): Promise<void> {
  await tokens.getToken('weblink')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
}

describe('the token', () => {
  test('goes with a call to an API, however its URL is given', async () => {
    const url = weblink('records?page=1')
    for (const input of [url, new URL(url), new Request(url)]) expect((await client(input)).status).toBe(200)
    for (const options of [{ prefix: sandbox.weblinkUrl }, { baseUrl: sandbox.weblinkUrl }])
      expect((await client('records', { ...options, searchParams: { page: 2 } })).status).toBe(200)
    expect((await client(`${sandbox.apiUrl}records`)).status).toBe(200)
    expect(tokenRequests()).toBe(1)
  })

  test('does not go with a call that brings its own Authorization, which does not wait', async () => {
    const Authorization = 'Bearer mine'
    const setsIt: Hooks = {
      beforeRequest: [({ request }) => request.headers.set('Authorization', Authorization)],
    }
    for (const options of [{ headers: { Authorization } }, { hooks: setsIt }]) {
      const { seen, fetch } = answering()
      await client(weblink('records'), { ...options, fetch })
      expect(seen).toEqual([Authorization])
    }
    expect([admitted(), tokenRequests()]).toEqual([0, 0])
  })

  test('is not known: nothing is sent, and ky does not try again', async () => {
    sandbox.control.failIssuer('weblink', { status: 400, body: { error: 'invalid_client' } })
    const call = client(weblink('records'), { retry: 2 })
    await expect(call).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
    expect([calls(), tokenRequests()]).toEqual([0, 1])
  })

  test('is on nothing that the caller gets', async () => {
    const { value } = await tokens.getToken('weblink')
    const kept: unknown[] = []
    const hooks: Hooks = {
      beforeRequest: [(state) => void kept.push(state)],
      beforeRetry: [(state) => void kept.push(state)],
      beforeError: [(state) => (kept.push(state), state.error)],
      afterResponse: [(state) => void kept.push(state)],
    }
    const options: Options = { hooks, retry: { limit: 1, delay: () => 1 } }
    kept.push(await client(weblink('records'), options), options)
    const error = await failure(client(weblink('status/503'), options))
    expect(error).toBeInstanceOf(HTTPError)
    kept.push(await failure(client(redirect('ftp://127.0.0.1/'), options)))
    expect(kept).toHaveLength(13)
    for (const each of kept) {
      expect(inspect(each, { depth: 12, showHidden: true, getters: true })).not.toContain(value)
      expect(JSON.stringify(each)).not.toContain(value)
    }
  })
})

describe('a URL of no API', () => {
  test('sees the same request as without Tokenlane', async () => {
    const seen: unknown[] = []
    const server = createServer((request, response) => {
      seen.push([request.method, request.url, request.rawHeaders])
      response.end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a?b=c%20d`
    const options = { json: { x: 1 }, headers: { 'X-Some': 'Thing' }, searchParams: { e: 'f' } }
    await bare.put(url, options)
    await client.put(url, options)
    expect(seen[1]).toEqual(seen[0])
    server.close()
    server.closeAllConnections()
  })

  test("goes to the caller's fetch with the same objects", async () => {
    const fetch = vi.fn<Fetch>(async () => new Response())
    const dispatcher = {}
    await client(outside(), { fetch, dispatcher } as unknown as Options)
    expect(fetch.mock.lastCall?.[0]).toBeInstanceOf(Request)
    expect(fetch.mock.lastCall?.[1]).toEqual({ dispatcher })
  })
})

describe('a 401', () => {
  test('renews once and sends once more, with no retry of ky', async () => {
    await revoke(tokens)
    expect((await client(weblink('records'), { retry: 0 })).status).toBe(200)
    expect([calls(), tokenRequests(), admitted()]).toEqual([2, 1, 2])
  })

  test("is the caller's the second time, as an HTTPError or as it is", async () => {
    const error = await failure(client(weblink('status/401')))
    expect(error).toBeInstanceOf(HTTPError)
    expect(error).toMatchObject({ response: { status: 401 } })
    expect(calls()).toBe(2)
    expect((await client(weblink('status/401'), { throwHttpErrors: false })).status).toBe(401)
  })

  test("leaves ky's own retries alone", async () => {
    const { seen, fetch } = answering(401, 503, 200)
    const retry = { limit: 1, delay: () => 1 }
    expect((await client(weblink('records'), { fetch, retry })).status).toBe(200)
    expect(seen[0]).not.toBe(seen[1])
    expect(seen[2]).toBe(seen[1])
    expect(admitted()).toBe(3)
  })

  const bodies: [string, () => Body][] = [
    ['string', () => 'héllo wörld'],
    ['ArrayBuffer', () => bytes.slice().buffer],
    ['Uint8Array', () => bytes],
    ['Buffer', () => Buffer.from(bytes)],
    ['Blob', () => new Blob([bytes])],
  ]
  test.each(bodies)('re-sends a body of type %s as it was', async (_, body) => {
    for (const inRequest of [false, true])
      for (const retry of [0, 2]) {
        await revoke(tokens)
        const options = { method: 'PATCH', body: body(), headers: { 'X-Request-Id': '7' } }
        const response = await (inRequest
          ? client(new Request(weblink('echo'), options), { retry })
          : client(weblink('echo'), { ...options, retry }))
        const echo = await response.json<{ headers: Record<string, string> }>()
        expect(echo).toMatchObject({ method: 'PATCH', sha256, length: bytes.length })
        expect(echo.headers).toMatchObject({ 'x-request-id': '7', 'content-length': `${bytes.length}` })
        expect(calls()).toBe(2)
      }
  })

  test('re-sends objects and forms', async () => {
    const multipart = new FormData()
    multipart.set('a', new Blob([bytes]), 'a.txt')
    const cases: [Options, object][] = [
      [{ json: { a: 1 } }, { length: 7, contentType: 'application/json' }],
      [
        { body: new URLSearchParams({ a: 'b c' }) },
        { length: 5, contentType: 'application/x-www-form-urlencoded;charset=UTF-8' },
      ],
      [{ body: multipart }, { contentType: expect.stringContaining('multipart/form-data') }],
    ]
    for (const [options, expected] of cases) {
      await revoke(tokens)
      expect(await client.post(weblink('echo'), options).json()).toMatchObject(expected)
      expect(calls()).toBe(2)
    }
  })

  test.each([
    ['text', 'a=b'],
    ['JSON', { a: 1 }],
    ['URLSearchParams', new URLSearchParams('a=b')],
  ])(
    'has a body of %s at hand without a look at the first request, which Deno would send chunked',
    async (_, body) => {
      await revoke(tokens)
      const look = vi.spyOn(Request.prototype, 'body', 'get')
      const looks: number[] = []
      const fetch: Fetch = (request, init) => {
        looks.push(look.mock.calls.length)
        return globalThis.fetch(request, init)
      }
      const sent = body.constructor === Object ? { json: body } : { body: body as Body }
      expect((await client.post(weblink('echo'), { ...sent, fetch })).status).toBe(200)
      look.mockRestore()
      expect([looks[0], calls()]).toEqual([0, 2])
    },
  )

  test('re-sends a body whose progress is watched', async () => {
    await revoke(tokens)
    const onUploadProgress = vi.fn<NonNullable<Options['onUploadProgress']>>()
    const body = 'x'.repeat(200_000)
    expect(await client.post(weblink('echo'), { body, onUploadProgress }).json()).toMatchObject({
      length: body.length,
    })
    expect(onUploadProgress.mock.lastCall?.[0]).toMatchObject({
      percent: 1,
      transferredBytes: body.length,
    })
    expect(calls()).toBe(2)
  })

  const streams: [string, () => Body][] = [
    ['ReadableStream', () => new Blob([bytes]).stream() as Body],
    ['Readable', () => Readable.from([bytes])],
    [
      'async generator',
      () =>
        (async function* generate() {
          yield bytes
        })(),
    ],
  ]
  test.each(streams)('surfaces at once for a body of type %s', async (_, body) => {
    await revoke(tokens)
    const send = () => client.post(weblink('echo'), { body: body(), throwHttpErrors: false })
    expect((await send()).status).toBe(401)
    expect(calls()).toBe(1)
    expect(await send().json()).toMatchObject({ sha256 })
  })
})

describe('a 429', () => {
  test('pauses the API, and the call goes again', async () => {
    sandbox.control.failApi('weblink', { status: 429, retryAfter: 0, times: 3 })
    expect((await client.post(weblink('echo'), { body: 'x' })).status).toBe(200)
    expect(calls()).toBe(4)
  })

  test("is the caller's the fourth time", async () => {
    sandbox.control.failApi('weblink', { status: 429, retryAfter: 0 })
    await expect(client(weblink('records'))).rejects.toMatchObject({ response: { status: 429 } })
    expect(calls()).toBe(4)
  })
})

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

describe('an abort', () => {
  const reason = new Error('enough')

  test('before the call: nothing is sent', async () => {
    const signal = AbortSignal.abort()
    for (const instance of [bare, client])
      expect(await failure(instance(weblink('records'), { signal }))).toBe(signal.reason)
    expect([calls(), asked]).toEqual([0, 0])
  })

  test('while the issuer is slow: at once, and nothing is sent', async () => {
    issuer = Promise.withResolvers()
    const controller = new AbortController()
    const { signal } = controller
    const call = failure(client(new Request(weblink('records'), { signal })))
    await vi.waitFor(() => expect(asked).toBe(1))
    controller.abort(reason)
    expect(await call).toBe(reason)
    expect(calls()).toBe(0)
  })

  test('in the queue, and in flight', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const inFlight = failure(client(weblink('slow?ms=60000'), { signal }))
    await vi.waitFor(() => expect(calls()).toBe(1))
    const queued = failure(client(weblink('records'), { signal }))
    await vi.waitFor(() => expect(lane()).toEqual({ running: 1, queued: 1 }))
    controller.abort(reason)
    expect(await inFlight).toBe(reason)
    expect(await queued).toBe(reason)
    expect(getEventListeners(signal, 'abort')).toEqual([])
    expect(calls()).toBe(1)
  })

  test('between a 401 and the new token', async () => {
    await revoke(tokens)
    issuer = Promise.withResolvers()
    const controller = new AbortController()
    const call = failure(client.post(weblink('echo'), { body: 'x', signal: controller.signal }))
    await vi.waitFor(() => expect(asked).toBe(2))
    controller.abort(reason)
    expect(await call).toBe(reason)
    expect(calls()).toBe(1)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })
})

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
    await client(`${sandbox.apiUrl}records`)
    await vi.waitFor(() => expect(lane().running).toBe(0))
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

describe('a redirect', () => {
  test('inside the API is followed with the token, and waits for its turn', async () => {
    const response = await client(redirect('records?page=2'))
    expect(response).toMatchObject({ status: 200, redirected: true, url: weblink('records?page=2') })
    expect(admitted()).toBe(2)
  })

  test('inside the API renews the token', async () => {
    const revoking = async (...request: Parameters<Fetch>): Promise<Response> => {
      const response = await globalThis.fetch(...request)
      if (response.status === 307) sandbox.control.revokeTokens('weblink')
      return response
    }
    const options = { body: bytes, fetch: revoking }
    expect(await client.post(redirect('echo', 307), options).json()).toMatchObject({ sha256 })
    expect(calls()).toBe(3)
  })

  test.each([301, 302, 303, 307, 308])('%i out of the API carries no token', async (status) => {
    expect(await client(redirect(outside(), status)).json()).toEqual({ authorization: false })
  })

  test('to another API carries no token, and none of the other', async () => {
    await expect(client(redirect(`${sandbox.apiUrl}records`))).rejects.toThrow(HTTPError)
    expect([calls(), tokenRequests()]).toEqual([1, 1])
    expect(sandbox.control.counts().issuers.general.requests).toBe(0)
  })

  test.each([302, 303])('%i turns a POST into a GET without a body', async (status) => {
    expect((await client.post(redirect('records', status), { json: {} })).status).toBe(200)
  })

  test.each([307, 308])('%i sends the body again', async (status) => {
    const echo = await client.post(redirect('echo', status), { body: bytes }).json()
    const headers = { 'content-length': `${bytes.length}` }
    expect(echo).toMatchObject({ method: 'POST', sha256, headers })
  })

  test('307 of a stream is a NetworkError, as with ky alone', async () => {
    const body = new Blob([bytes]).stream()
    expect(await failure(client.post(redirect('echo', 307), { body }))).toBeInstanceOf(NetworkError)
    expect(calls()).toBe(1)
  })

  test('is followed 20 times, and no more', async () => {
    const fetch = vi.fn<Fetch>(async () => new Response(null, { status: 302, headers: { location: '' } }))
    await expect(client(weblink('loop'), { fetch })).rejects.toThrow(NetworkError)
    expect(fetch).toHaveBeenCalledTimes(21)
  })

  test('is left to the caller who wants so', async () => {
    const options: Options = { redirect: 'manual', throwHttpErrors: false }
    expect((await client(redirect('records'), options)).status).toBe(302)
    await expect(client(redirect('records'), { redirect: 'error' })).rejects.toThrow(NetworkError)
  })
})

describe('a call', () => {
  test('gives its turn back when the headers are there', async () => {
    const { fetch } = answering()
    const stream = new ReadableStream({ pull: (controller) => controller.enqueue(bytes) })
    const response = await client(weblink('records'), { fetch: async () => new Response(stream) })
    expect(lane().running).toBe(0)
    expect((await client(weblink('records'), { fetch })).status).toBe(200)
    await response.body?.cancel()
  })

  test('shows the progress of its download', async () => {
    const onDownloadProgress = vi.fn<NonNullable<Options['onDownloadProgress']>>()
    await client(weblink('records'), { onDownloadProgress }).json()
    expect(onDownloadProgress.mock.lastCall?.[0]).toMatchObject({ percent: 1 })
  })

  test('of a higher priority goes first', async () => {
    const { waiting, fetch } = holding()
    const order: unknown[] = []
    const send = (priority?: number) =>
      client(weblink('records'), { fetch, tokenlane: { priority } }).then(() => order.push(priority))
    const sent = [send()]
    await vi.waitFor(() => expect(waiting).toHaveLength(1))
    for (const priority of [-1, 0, 7]) sent.push(send(priority))
    await vi.waitFor(() => expect(lane().queued).toBe(3))
    for (let n = 1; n <= 4; n += 1) {
      await vi.waitFor(() => expect(waiting).toHaveLength(n))
      waiting[n - 1]?.()
    }
    await Promise.all(sent)
    expect(order).toEqual([undefined, 7, 0, -1])
  })

  test('with wrong options is refused', async () => {
    for (const tokenlane of [{ priority: 0.5 }, { urgent: true }, 7])
      await expect(client(weblink('records'), { tokenlane } as Options)).rejects.toMatchObject({
        code: 'INVALID_OPTIONS',
      })
    expect(calls()).toBe(0)
  })

  test('of a closed manager is refused', async () => {
    await tokens.close()
    await expect(client(weblink('records'))).rejects.toMatchObject({ code: 'MANAGER_CLOSED' })
  })
})

describe('kyTokens', () => {
  test('twice is once', async () => {
    const twice = client.extend(kyTokens(tokens))
    await revoke(tokens)
    expect((await twice(weblink('records'))).status).toBe(200)
    expect([calls(), admitted()]).toEqual([2, 2])
  })

  test('of two managers, each for its own APIs', async () => {
    const other = createManager({ apis: [] })
    for (const both of [
      client.extend(kyTokens(other)),
      bare.extend(kyTokens(other)).extend(kyTokens(tokens)),
    ])
      expect((await both(weblink('records'))).status).toBe(200)
    expect(tokenRequests()).toBe(1)
    await other.close()
  })

  test("sends with the instance's fetch, or the call's", async () => {
    const ofInstance = answering()
    const ofCall = answering()
    const instance = ky.create({ fetch: ofInstance.fetch }).extend(kyTokens(tokens))
    await instance(weblink('records'))
    await instance(weblink('records'), { fetch: ofCall.fetch })
    expect(ofInstance.seen).toEqual([expect.stringMatching(/^Bearer /)])
    expect(ofCall.seen).toEqual(ofInstance.seen)
  })

  test('refuses wrong arguments at once', () => {
    const refused = expect.objectContaining({ code: 'INVALID_OPTIONS' })
    expect(() => kyTokens(undefined as never)).toThrow(refused)
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
