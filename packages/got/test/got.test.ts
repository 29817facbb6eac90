import { createHash } from 'node:crypto'
import { lookup } from 'node:dns'
import { getEventListeners, once } from 'node:events'
import { Agent, createServer } from 'node:http'
import { createSecureServer, type Http2SecureServer } from 'node:http2'
import { globalAgent } from 'node:https'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { inspect } from 'node:util'
import { gzipSync } from 'node:zlib'

import type { ApiStatus, TokenManager } from '@tokenlane/core'
import { openService } from '@tokenlane/testing'
import got, {
  AbortError,
  HTTPError,
  RequestError,
  TimeoutError,
  type Got,
  type Response,
  type StreamOptions,
} from 'got'
import { generate, type CertificateExtension } from 'selfsigned'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

import { gotTokens } from '../src/index.ts'

const { sandbox, createManager, outside, calls, tokenRequests, revoke } = await openService()

let tokens: TokenManager
let bare: Got
let client: Got
let controller: AbortController

beforeEach(() => {
  tokens = managerFor(sandbox.weblinkUrl)
  bare = got.extend({ prefixUrl: sandbox.weblinkUrl, retry: { limit: 0 } })
  client = bare.extend(gotTokens(tokens))
  controller = new AbortController()
})

// whatever happened to the calls: they hold nothing
afterEach(async () => {
  const free = (): boolean => line()?.running === 0 && line()?.queued === 0
  const unheard = (): boolean => getEventListeners(controller.signal, 'abort').length === 0
  await vi.waitUntil(() => free() && unheard(), { timeout: 5_000 })
  await tokens.close()
})

function managerFor(weblinkUrl: string): TokenManager {
  return createManager({
    apis: [
      { baseUrl: sandbox.apiUrl, issuer: 'general' },
      {
        baseUrl: weblinkUrl,
        issuer: 'weblink',
        ratePolicy: { limits: [{ quota: 1_000, window: 1_000 }], concurrency: 1 },
      },
    ],
  })
}

const bytes = Buffer.from('héllo wörld')
const sha256 = createHash('sha256').update(bytes).digest('hex')
const line = (): ApiStatus | undefined => tokens.status().apis[1]
const failApi = (status: number, times: number, retryAfter = 0): void =>
  sandbox.control.failApi('weblink', { status, times, retryAfter })
/** Two retries of got's own, without their delay. */
const retry = { limit: 2, calculateDelay: ({ computedValue = 0 }) => Math.min(computedValue, 1) }
const failure = (call: Promise<unknown>): Promise<RequestError> =>
  call.then(
    () => expect.fail('the call succeeded'),
    (error: unknown) => error as RequestError,
  )

/** A server of this test's own, and what it saw. */
async function serve(answer: Parameters<typeof createServer>[1]): Promise<{ url: string; stop(): void }> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}

describe('the token', () => {
  test('goes with a call to an API', async () => {
    expect((await client('records', { searchParams: { page: 1 } })).statusCode).toBe(200)
    expect(await client('records').json()).toBeInstanceOf(Object)
    expect((await client(`${sandbox.apiUrl}records`, { prefixUrl: '' })).statusCode).toBe(200)
    expect(tokenRequests()).toBe(1)
  })

  test('goes with calls at the same time, one by one where the API wants it', async () => {
    await Promise.all(Array.from({ length: 8 }, () => client('records')))
    expect(sandbox.control.counts().apis.weblink).toMatchObject({ answered: 8, maxConcurrent: 1 })
  })

  test('does not go with a call that brings Authorization or a user name of its own', async () => {
    const release = await occupy()
    const own = { throwHttpErrors: false, headers: { Authorization: 'Bearer mine' } }
    expect((await client('records', own)).statusCode).toBe(401)
    const user = { throwHttpErrors: false, username: 'a', password: 'b' }
    expect((await client('records', user)).statusCode).toBe(401)
    expect([calls(), tokenRequests()]).toEqual([2, 1])
    release()
  })

  test('does not go where a hook sends the call', async () => {
    const away = client.extend({
      handlers: [
        (options, next) => {
          options.hooks.beforeRequest.push((late) => {
            late.prefixUrl = ''
            late.url = outside()
          })
          return next(options)
        },
      ],
    })
    expect(await away('records').json()).toEqual({ authorization: false })
  })

  test('is not known: nothing is sent, and the error is ours', async () => {
    sandbox.control.failIssuer('weblink', { status: 400, body: { error: 'invalid_client' } })
    const refused = { name: 'TokenlaneError', code: 'TOKEN_REQUEST_REFUSED' }
    expect(await failure(client('records'))).toMatchObject(refused)
    expect(await failure(client.stream('records').toArray())).toMatchObject(refused)
    expect(calls()).toBe(0)
  })

  test('is on nothing that got leaves', async () => {
    const { value } = await tokens.getToken('weblink')
    const response = await client('records')
    const error = await failure(client('status/503'))
    const timeout = await failure(client('slow?ms=60000', { timeout: { request: 50 } }))
    expect([error, timeout]).toEqual([expect.any(HTTPError), expect.any(TimeoutError)])
    const stream = client.stream('records')
    const [streamed] = (await once(stream, 'response')) as [Response]
    for (const { request } of [response, error, timeout, streamed])
      expect(inspect(request, hidden)).not.toContain(value)
    for (const kept of [response, error, error.response, timeout, streamed, stream])
      expect(inspect(kept, hidden)).not.toContain(value)
    for (const text of [error, response.request?.options, globalAgent.sockets])
      expect(json(text)).not.toContain(value)
    stream.destroy()
  })

  test('is not on an answer while its agent makes the connection of another call', async () => {
    const { url, stop } = await serve((_, response) => response.end())
    const baseUrl = url.replace('127.0.0.1', 'localhost')
    const manager = createManager({ apis: [{ baseUrl, issuer: 'weblink' }] })
    const { value } = await manager.getToken('weblink')
    const http = new Agent({ keepAlive: false })
    const local = got.extend({ agent: { http } }, gotTokens(manager))
    const answer = await local(baseUrl)
    const held = Promise.withResolvers<void>()
    const dnsLookup = vi.fn((...asked: unknown[]) => {
      void held.promise.then(() => (lookup as (...asked: unknown[]) => void)(...asked))
    })
    const call = local(baseUrl, { dnsLookup })
    await vi.waitFor(() => expect(inspect(http.sockets, hidden)).toContain(value))
    expect(inspect(answer, { depth: 12 }) + json(answer)).not.toContain(value)
    held.resolve()
    await call
    stop()
    await manager.close()
  })
})

const hidden = { depth: 12, showHidden: true }

/** JSON, as a logger makes it that minds no circles. */
function json(value: unknown): string {
  const seen = new WeakSet()
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null) return inner
    if (seen.has(inner)) return undefined
    seen.add(inner)
    return inner
  })
}

/** Takes the only slot of the API. */
async function occupy(): Promise<() => void> {
  const pass = await tokens.route(sandbox.weblinkUrl)?.admit()
  return () => pass?.release()
}

test('a URL of no API sees the same request as with got alone', async () => {
  const seen: unknown[] = []
  const { url, stop } = await serve((request, response) => {
    seen.push([request.method, request.url, request.rawHeaders])
    response.end()
  })
  const options = { prefixUrl: '', json: { x: 1 }, headers: { 'X-Some': 'Thing' }, searchParams: { e: 'f' } }
  for (const instance of [bare, client]) await instance.put(url, options)
  expect(seen[0]).toEqual(seen[1])
  stop()
})

test('options that got refuses are refused by got', async () => {
  expect(await failure(client('records', { prefixUrl: 'no URL' }))).toBeInstanceOf(RequestError)
  expect(await failure(client('records', { nothing: 1 } as never))).toBeInstanceOf(RequestError)
})

describe('a 401', () => {
  test('renews once and sends once more, whatever throwHttpErrors, retry and the hooks say', async () => {
    const beforeRetry = vi.fn<() => void>()
    const afterResponse = vi.fn((response: Response) => response)
    for (const options of [
      {},
      { throwHttpErrors: false },
      { retry: { limit: 2, calculateDelay: () => 0 } },
    ]) {
      await revoke(tokens)
      const hooks = { beforeRetry: [beforeRetry], afterResponse: [afterResponse] }
      expect((await client('records', { ...options, hooks })).statusCode).toBe(200)
      expect([calls(), tokenRequests()]).toEqual([2, 1])
    }
    expect([beforeRetry, afterResponse].map(({ mock }) => mock.calls.length)).toEqual([3, 3])
  })

  test("is the caller's the second time", async () => {
    expect(await failure(client('status/401'))).toBeInstanceOf(HTTPError)
    expect(calls()).toBe(2)
    expect((await client('status/401', { throwHttpErrors: false })).statusCode).toBe(401)
  })

  test("does not count among got's own retries", async () => {
    await revoke(tokens)
    const beforeRetry = vi.fn(() => {
      if (calls() === 1) failApi(503, 3)
    })
    const call = client('records', { retry, hooks: { beforeRetry: [beforeRetry] } })
    expect((await failure(call)).response?.statusCode).toBe(503)
    expect([calls(), beforeRetry.mock.calls.length]).toEqual([4, 3])
  })

  test('comes again after a retry that dropped the hooks', async () => {
    await revoke(tokens)
    let first = true
    const afterResponse = (response: Response, again: (options: object) => never): Response => {
      if (!first) return response
      first = false
      sandbox.control.revokeTokens('weblink')
      return again({})
    }
    expect((await client('records', { hooks: { afterResponse: [afterResponse] } })).statusCode).toBe(200)
    expect(calls()).toBe(4)
  })

  const form = new FormData()
  form.set('a', 'b')
  const bodies: [string, object, object][] = [
    ['string', { body: bytes.toString() }, { sha256 }],
    ['Buffer', { body: bytes }, { sha256 }],
    ['Uint8Array', { body: new Uint8Array(bytes) }, { sha256 }],
    ['json', { json: { a: 1 } }, { length: 7, contentType: 'application/json' }],
    ['form', { form: { a: 'b' } }, { length: 3 }],
    ['FormData', { body: form }, { contentType: expect.stringContaining('multipart/form-data') }],
  ]
  test.each(bodies)('re-sends a body of type %s as it was', async (_, body, seen) => {
    await revoke(tokens)
    const headers = { 'X-Request-Id': '7' }
    const answer = await client.patch('echo', { ...body, headers }).json()
    expect(answer).toMatchObject({ method: 'PATCH', ...seen, headers: { 'x-request-id': '7' } })
    expect(calls()).toBe(2)
  })

  const readOnce: [string, () => NonNullable<StreamOptions['body']>][] = [
    ['Node stream', () => Readable.from([bytes])],
    ['web stream', () => new Blob([bytes]).stream()],
    ['generator', () => [bytes].values()],
  ]
  test.each(readOnce)('surfaces at once for a %s', async (_, body) => {
    await revoke(tokens)
    const { response } = await failure(client.post('echo', { body: body() }))
    expect([response?.statusCode, calls()]).toEqual([401, 1])
    expect(await client.post('echo', { body: body() }).json()).toMatchObject({ sha256 })
  })
})

describe('a stream', () => {
  test('has the token, and its 401 makes the next one renew', async () => {
    await revoke(tokens)
    expect(await failure(client.stream('records').toArray())).toBeInstanceOf(HTTPError)
    expect([calls(), tokenRequests()]).toEqual([1, 0])
    expect((await client.stream('records').toArray()).length).toBeGreaterThan(0)
    expect(tokenRequests()).toBe(1)
    sandbox.control.revokeTokens('weblink')
    expect((await client.stream('records', { throwHttpErrors: false }).toArray()).length).toBeGreaterThan(0)
    expect((await client.stream('records').toArray()).length).toBeGreaterThan(0)
  })

  test('sends what is piped to it', async () => {
    const { signal } = controller
    const stream = Readable.from([bytes]).pipe(client.stream.post('echo', { signal }))
    expect(JSON.parse(Buffer.concat(await stream.toArray()).toString())).toMatchObject({ sha256 })
  })

  test('that is destroyed gives its slot back: in line, in flight, unread', async () => {
    const release = await occupy()
    const waiting = client.stream('records')
    await vi.waitFor(() => expect(line()?.queued).toBe(1))
    waiting.destroy()
    await vi.waitFor(() => expect(line()?.queued).toBe(0))
    release()

    const going = client.stream('slow?ms=60000')
    await vi.waitFor(() => expect(calls()).toBe(1))
    going.destroy()

    const unread = client.stream('records')
    await once(unread, 'response')
    unread.destroy()
  })

  test('that the caller retries has a token again', async () => {
    failApi(503, 1)
    const first = client.stream('records', { retry })
    const [, , createRetryStream] = (await once(first, 'retry')) as [number, Error, () => typeof first]
    expect((await createRetryStream().toArray()).length).toBeGreaterThan(0)
  })
})

describe("an abort is got's own error", () => {
  test('before the call, with nothing sent', async () => {
    const call = client('records', { signal: AbortSignal.abort() })
    expect(await failure(call)).toBeInstanceOf(AbortError)
    expect([calls(), tokenRequests()]).toEqual([0, 0])
  })

  test('while the issuer is slow', async () => {
    sandbox.control.slowIssuer('weblink', 500)
    const { signal } = controller
    const call = failure(client('records', { signal }))
    await vi.waitFor(() => expect(tokenRequests()).toBe(1))
    controller.abort()
    expect(await call).toBeInstanceOf(AbortError)
    expect(calls()).toBe(0)
  })

  test('in line, and in flight', async () => {
    const { signal } = controller
    const flying = failure(client('slow?ms=60000', { signal }))
    await vi.waitFor(() => expect(calls()).toBe(1))
    const waiting = failure(client('records', { signal }))
    await vi.waitFor(() => expect(line()?.queued).toBe(1))
    controller.abort()
    expect([await flying, await waiting]).toEqual([expect.any(AbortError), expect.any(AbortError)])
    expect(calls()).toBe(1)
  })

  test('of AbortSignal.timeout, a TimeoutError', async () => {
    const release = await occupy()
    expect(await failure(client('records', { signal: AbortSignal.timeout(20) }))).toBeInstanceOf(TimeoutError)
    release()
  })
})

test('the wait is outside of timeout.request', async () => {
  const release = await occupy()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const call = client('records', { timeout: { request: 30_000 } })
  await vi.waitFor(() => expect(line()?.queued).toBe(1))
  vi.advanceTimersByTime(60_000)
  vi.useRealTimers()
  release()
  expect((await call).statusCode).toBe(200)
})

test('timeout.request ends the wait after a redirect', async () => {
  let release: (() => void) | undefined
  const beforeRedirect = [async () => void (release = await occupy())]
  const options = { searchParams: { to: 'records' }, hooks: { beforeRedirect }, timeout: { request: 200 } }
  expect(await failure(client('redirect', options))).toBeInstanceOf(TimeoutError)
  expect([calls(), line()?.queued]).toEqual([1, 0])
  release?.()
})

test('a connection that breaks is an error of got, and its retry waits in line again', async () => {
  const server = createTcpServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const prefixUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
  await tokens.close()
  tokens = managerFor(prefixUrl)
  const error = await failure(bare.extend(gotTokens(tokens))('a', { prefixUrl, retry }))
  expect([error.code, error.request?.retryCount]).toEqual(['ECONNRESET', 2])
  server.close()
})

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

describe('a redirect', () => {
  const to = (url: string, status = 302) => ({ searchParams: { to: url, status } })

  test('inside the API is followed with the token, which is renewed if it must', async () => {
    expect((await client('redirect', to('records'))).statusCode).toBe(200)
    const beforeRedirect = [() => sandbox.control.revokeTokens('weblink')]
    const { statusCode } = await client('redirect', { ...to('records'), hooks: { beforeRedirect } })
    expect([statusCode, calls()]).toEqual([200, 5])
    const echo = await client.post('redirect', { ...to('echo', 307), body: bytes }).json()
    expect(echo).toMatchObject({ sha256 })
  })

  test('out of the API carries no token and holds nothing', async () => {
    const beforeRedirect = [() => void setImmediate(() => held.push(line()?.running))]
    const held: unknown[] = []
    const call = client('redirect', { ...to(outside()), hooks: { beforeRedirect } })
    expect(await call.json()).toEqual({ authorization: false })
    expect(held).toEqual([0])
  })

  test('to another API carries no token, nor does one that leads back', async () => {
    const { response } = await failure(client('redirect', to(`${sandbox.apiUrl}records`)))
    expect(response?.statusCode).toBe(401)
    const back = new URL(`${sandbox.apiUrl}redirect`)
    back.searchParams.set('to', `${sandbox.weblinkUrl}records`)
    expect((await failure(client('redirect', to(back.href)))).response?.statusCode).toBe(401)
    expect(sandbox.control.counts().issuers.general.requests).toBe(0)
    expect(tokenRequests()).toBe(1)
  })

  test('from elsewhere to an API carries no token', async () => {
    const { url, stop } = await serve((_, response) => {
      response.writeHead(302, { location: `${sandbox.weblinkUrl}records` }).end()
    })
    expect((await failure(client(url, { prefixUrl: '' }))).response?.statusCode).toBe(401)
    expect(tokenRequests()).toBe(0)
    stop()
  })
})

test('pages are calls of their own, also with the options of the last one', async () => {
  const pages = (next: (response: Response) => object) =>
    client.paginate.all<string>('records', {
      responseType: 'json',
      pagination: {
        transform: (response) => {
          sandbox.control.revokeTokens('weblink')
          return [response.url]
        },
        paginate: ({ response }) => next(response),
        requestLimit: 3,
      },
    })
  expect(await pages(() => ({ searchParams: { page: 2 } }))).toHaveLength(3)
  expect([calls(), tokenRequests()]).toEqual([5, 3])
  expect(await pages((response) => response.request.options)).toHaveLength(3)
  expect(calls()).toBe(11)
})

describe('over TLS of all kinds', () => {
  let prefixUrl: string
  let cert: string
  const seen: [version: string, authorization: string | undefined][] = []
  let server: Http2SecureServer

  beforeAll(async () => {
    const extensions: CertificateExtension[] = [
      { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
    ]
    const pems = await generate([{ name: 'commonName', value: 'localhost' }], { extensions })
    cert = pems.cert
    server = createSecureServer({ cert, key: pems.private, allowHTTP1: true }, (request, response) => {
      seen.push([request.httpVersion, request.headers.authorization])
      request.resume()
      if (request.url === '/401' && seen.length === 1) {
        response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' })
        response.end()
        return
      }
      response.setHeader('content-encoding', 'gzip')
      response.setHeader('cache-control', 'max-age=600')
      response.setHeader('vary', 'accept')
      response.end(gzipSync(bytes))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    prefixUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
  })
  afterAll(() => server.close())

  beforeEach(async () => {
    seen.length = 0
    await tokens.close()
    tokens = managerFor(prefixUrl)
    client = bare.extend(gotTokens(tokens), { prefixUrl, https: { certificateAuthority: cert } })
  })

  test.each([
    ['1.1', false],
    ['2.0', true],
  ])('HTTP/%s has the token, and renews it', async (version, http2) => {
    const response = await client.post('401', { json: { a: 1 }, http2 })
    expect(response.body).toBe(bytes.toString())
    expect(seen.map(([sent]) => sent)).toEqual([version, version])
    expect(seen[0]?.[1]).not.toBe(seen[1]?.[1])
    const stream = client.stream('a', { http2 })
    expect(Buffer.concat(await stream.toArray())).toEqual(bytes)
    for (const kept of [response, response.request, stream])
      for (const [, token = ''] of seen) {
        expect(token).toMatch(/^Bearer ./)
        expect(inspect(kept, hidden)).not.toContain(token)
        expect(json(kept)).not.toContain(token)
      }
  })

  test('HTTP/2 gives back the slot of a call that was aborted', async () => {
    const { signal } = controller
    const stream = client.stream('a', { http2: true, signal })
    await once(stream, 'response')
    controller.abort()
    expect((await once(stream, 'error'))[0]).toBeInstanceOf(AbortError)
  })

  test('a cache has no token, and keeps what came with one only where it is private', async () => {
    const cache = new Map()
    for (let call = 0; call < 2; call += 1) await client('a', { cache })
    expect([seen.length, cache.size]).toEqual([2, 0])
    const cacheOptions = { shared: false }
    for (let call = 0; call < 2; call += 1) await client('b', { cache, cacheOptions })
    expect(await client.stream('b', { cache, cacheOptions }).toArray()).not.toEqual([])
    expect([seen.length, cache.size]).toEqual([3, 1])
    for (const [, token] of seen) expect(token).toMatch(/^Bearer ./)
    expect(inspect(cache, hidden)).not.toContain('Bearer')
  })
})

test('hooks that fail leave nothing behind', async () => {
  const fail = (): never => {
    throw new Error('mine')
  }
  for (const hooks of [{ beforeRequest: [fail] }, { afterResponse: [fail] }, { beforeRedirect: [fail] }])
    expect(await failure(client('redirect?to=records', { hooks }))).toMatchObject({ message: 'mine' })
  await revoke(tokens)
  expect(await failure(client('records', { hooks: { beforeRetry: [fail] } }))).toMatchObject({
    message: 'mine',
  })
  expect(await failure(client('status/503').json())).toBeInstanceOf(HTTPError)
})

test("the caller's request function still runs, and may fail", async () => {
  await revoke(tokens)
  const broken = Object.assign(new Error('broken'), { code: 'ECONNRESET' })
  const request = vi
    .fn<() => undefined>(() => undefined)
    .mockImplementationOnce(() => {
      throw broken
    })
  expect((await client('records', { request, retry })).statusCode).toBe(200)
  expect([request.mock.calls.length, calls()]).toEqual([3, 2])
})

test('twice is once, and a second manager is another', async () => {
  const twice = client.extend(gotTokens(tokens))
  const other = managerFor(`${sandbox.weblinkUrl}other/`)
  const both = got.extend(twice, bare.extend(gotTokens(other)))
  for (const instance of [twice, both]) {
    await revoke(tokens)
    expect((await instance('records')).statusCode).toBe(200)
    expect([calls(), tokenRequests()]).toEqual([2, 1])
  }
  expect((await failure(both('other/none'))).response?.statusCode).toBe(404)
  expect(other.status().apis[1]).toMatchObject({ running: 0, queued: 0 })
  await other.close()
})

test('refuses wrong arguments at once', () => {
  const refused = expect.objectContaining({ code: 'INVALID_OPTIONS' })
  expect(() => gotTokens(undefined as never)).toThrow(refused)
  expect(() => gotTokens({} as never)).toThrow(refused)
})

test('each call is reported once, with its status or with what it failed with', async () => {
  const finished: unknown[] = []
  const manager = createManager({
    observe: (event) => event.type === 'call.finished' && finished.push(event),
  })
  const observed = bare.extend(gotTokens(manager))
  await revoke(manager)
  await observed('records')
  await failure(observed('slow?ms=60000', { timeout: { request: 50 } }))
  const { signal } = controller
  const aborted = failure(observed('slow?ms=60000', { signal }))
  await vi.waitFor(() => expect(calls()).toBe(4))
  controller.abort()
  await aborted
  await failure(observed.stream('status/503').toArray())
  expect(finished).toMatchObject([
    { client: 'got', status: 200, sends: 2, resends: ['rejected'] },
    { client: 'got', code: 'ETIMEDOUT', sends: 1 },
    { client: 'got', code: 'ERR_ABORTED', sends: 1 },
    { client: 'got', status: 503, sends: 1 },
  ])
  await manager.close()
})

test('a call of an API that closes while it is redirected ends as it would', async () => {
  const beforeRedirect = [() => void (closing = tokens.close())]
  let closing: Promise<void> | undefined
  const options = { searchParams: { to: 'records', status: 303 }, hooks: { beforeRedirect } }
  expect((await client.post('redirect', options)).statusCode).toBe(200)
  await closing
  expect(await failure(client('records'))).toMatchObject({ code: 'MANAGER_CLOSED' })
})

test('a call that says resend: false keeps its 401, and the next one has a new token', async () => {
  await revoke(tokens)
  const context = { tokenlane: { resend: false } }
  expect((await failure(client('records', { context }))).response?.statusCode).toBe(401)
  expect(calls()).toBe(1)
  expect((await client('records', { context })).statusCode).toBe(200)
})
