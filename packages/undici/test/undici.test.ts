import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { openScriptedApi, rejection, type ScriptedApi } from '@tokenlane/conformance'
import type { TokenManager } from '@tokenlane/core'
import { openService } from '@tokenlane/testing'
import * as undici7 from 'undici'
import * as undici8 from 'undici-8'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'

import { tokensInterceptor } from '../src/index.ts'

const { createManager } = await openService()
// their types do not fit each other
const versions = [
  { version: 7, undici: undici7 },
  { version: 8, undici: undici8 as unknown as typeof undici7 },
]

let api: ScriptedApi
let tokens: TokenManager
let answers: Record<string, Parameters<typeof openScriptedApi>[0]>

beforeEach(async () => {
  answers = {}
  api = await openScriptedApi((request, number) => {
    const [path = ''] = request.url.split('?')
    return answers[path]?.(request, number) ?? { status: 200, body: 'ok' }
  })
  tokens = createManager({ apis: [{ baseUrl: `${api.url}api/`, issuer: 'weblink' }] })
})
afterEach(() => Promise.all([api.close(), tokens.close()]))

const seen = (): (readonly [string, boolean])[] =>
  api.requests.map(({ url, headers }) => [url, headers.authorization !== undefined])

describe.each(versions)('undici $version', ({ undici }) => {
  const { Agent, interceptors, request } = undici
  const withTokens = (): undici7.Dispatcher => new Agent().compose(tokensInterceptor(tokens))

  test('leaves the options of the caller as they are, and takes no later change of them', async () => {
    const headers = { 'x-one': '1' }
    const options = { dispatcher: withTokens(), headers, method: 'POST' as const, body: 'text' }
    const call = request(`${api.url}api/a`, options)
    headers['x-one'] = '2'
    await (await call).body.dump()
    expect(options).toMatchObject({ headers: { 'x-one': '2' } })
    expect(JSON.stringify(headers)).toBe('{"x-one":"2"}')
    expect(api.requests[0]!.headers).toMatchObject({
      'x-one': '1',
      authorization: expect.stringMatching(/^Bearer /),
    })
  })

  test('goes to the origin that it was made with, whatever becomes of the URL object or of its getters', async () => {
    const elsewhere = await openScriptedApi()
    onTestFinished(() => elsewhere.close())
    const origin = new URL(api.url)
    const made = withTokens().request({ origin, path: '/api/a', method: 'GET' })
    // it waits for its token
    origin.host = new URL(elsewhere.url).host
    await (await made).body.dump()
    let reads = 0
    const flipping = {
      path: '/api/b',
      method: 'GET' as const,
      get origin() {
        return ++reads === 1 ? api.url : elsewhere.url
      },
    }
    await (await withTokens().request(flipping)).body.dump()
    expect(elsewhere.requests.filter(({ headers }) => headers.authorization !== undefined)).toEqual([])
    expect(seen()).toContainEqual(['/api/a', true])
  })

  test.each<[string, (value: string) => unknown]>([
    ['names and values in turn', (value) => ['Authorization', value]],
    ['pairs', (value) => new Map([['authorization', value]])],
    ['an object', (value) => ({ AUTHORIZATION: value })],
    ['Headers', (value) => new Headers({ authorization: value })],
  ])('takes headers as %s, with the token or the own Authorization of the caller', async (_, make) => {
    const dispatcher = withTokens()
    const headers = make('Bearer mine') as Record<string, string>
    await (await request(`${api.url}api/a`, { dispatcher, headers })).body.dump()
    expect(api.requests[0]!.headers.authorization).toBe('Bearer mine')
    await (await request(`${api.url}api/a`, { dispatcher, headers: make('') as never })).body.dump()
    expect(api.requests[1]!.headers.authorization).toMatch(/^Bearer [^,]+$/)

    const others = (
      headers instanceof Headers ? new Headers({ 'x-a': 'b' }) : new Map([['x-a', 'b']])
    ) as never
    await (await request(`${api.url}api/a`, { dispatcher, headers: others })).body.dump()
    expect(api.requests[2]!.headers).toMatchObject({ 'x-a': 'b', authorization: expect.any(String) })
  })

  test('a query that is null is none, and the call has its token', async () => {
    const options = { dispatcher: withTokens(), query: null as never }
    await (await request(`${api.url}api/a`, options)).body.dump()
    expect(seen()).toEqual([['/api/a', true]])
  })

  test("sends undici's own FormData again after a 401", async () => {
    answers['/api/form'] = (_, number) => (number === 1 ? rejection : { status: 200 })
    const body = new undici.FormData()
    body.set('a', 'b')
    const options = { dispatcher: withTokens(), method: 'POST' as const, body }
    const { statusCode } = await request(`${api.url}api/form`, options)
    expect([statusCode, api.requests.length]).toEqual([200, 2])
    expect(api.requests[1]!.body.toString()).toContain('name="a"')
  })

  test.each([
    ['/api/../outside', '/outside', false],
    ['/outside/../api/a', '/api/a', true],
    ['/outside/%2e%2e/api/a?b=/../c', '/api/a?b=/../c', true],
    ['/outside\\..\\api/a', '/api/a', true],
    ['//evil.example/api/', '//evil.example/api/', false],
    ['/api/a?b=../c', '/api/a?b=../c', true],
  ])('sends the path %s as it was read: %s, with the token: %s', async (path, sent, hasToken) => {
    const origin = new URL(api.url).origin
    await (await withTokens().request({ origin, path, method: 'GET' })).body.dump()
    // what belongs to no API is as the caller wrote it
    expect(seen()).toEqual([[hasToken ? sent : path, hasToken]])
  })

  test('lets go of the pass of a call that is aborted in the tick in which it begins', async () => {
    await tokens.getToken('weblink')
    const controller = new AbortController()
    const call = request(`${api.url}api/a`, { dispatcher: withTokens(), signal: controller.signal })
    controller.abort()
    await expect(call).rejects.toMatchObject({ name: 'AbortError' })
    await tokens.close()
  })

  test("Node's fetch has the token through the global dispatcher, and a new one after a 401", async () => {
    answers['/api/a'] = (_, number) => (number === 1 ? rejection : { status: 200 })
    const before = undici.getGlobalDispatcher()
    undici.setGlobalDispatcher(withTokens())
    try {
      for (const path of ['api/a', 'a']) expect((await fetch(api.url + path)).status).toBe(200)
    } finally {
      undici.setGlobalDispatcher(before)
    }
    expect(seen()).toEqual([
      ['/api/a', true],
      ['/api/a', true],
      ['/a', false],
    ])
  })

  test('an upgrade and a tunnel carry no token', async () => {
    const lines: string[] = []
    const server = createServer()
    for (const event of ['upgrade', 'connect'])
      server.on(event, ({ headers, method }, socket) => {
        lines.push(`${method} ${headers.authorization}`)
        socket.end(
          `HTTP/1.1 ${event === 'upgrade' ? '101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: a' : '200 OK'}\r\n\r\n`,
        )
      })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const manager = createManager({ apis: [{ baseUrl: `${origin}/`, issuer: 'weblink' }] })
    const dispatcher = new Agent().compose(tokensInterceptor(manager))
    const { socket } = await undici.upgrade(`${origin}/a`, { dispatcher, protocol: 'a' })
    const tunnel = await undici.connect(`${origin}/b`, { dispatcher })
    socket.destroy()
    tunnel.socket.destroy()
    server.close()
    await manager.close()
    expect(lines).toEqual(['GET undefined', 'CONNECT undefined'])
  })

  test('the order of the README: dns, cache, tokens, redirect, retry', async () => {
    answers['/api/moved'] = () => ({ status: 302, headers: { location: '/api/shaky' } })
    let failures = 1
    answers['/api/shaky'] = () => ({ status: failures-- > 0 ? 503 : 200, body: 'steady' })
    answers['/api/kept'] = () => ({ status: 200, headers: { 'cache-control': 'max-age=60' }, body: 'kept' })
    const { cache, dns, redirect, retry } = interceptors
    const dispatcher = new Agent().compose(
      dns(),
      cache(),
      tokensInterceptor(tokens),
      redirect({ maxRedirections: 5 }),
      retry({ maxRetries: 2, minTimeout: 1 }),
    )
    const { statusCode, body } = await request(`${api.url}api/moved`, { dispatcher })
    expect([statusCode, await body.text()]).toEqual([200, 'steady'])
    expect(seen().every(([, hasToken]) => hasToken)).toBe(true)
    expect(api.requests.map(({ url }) => url)).toEqual([
      '/api/moved',
      '/api/shaky',
      '/api/moved',
      '/api/shaky',
    ])

    // the cache sees that there is a token, and that the response is not `public`
    for (const _ of [1, 2]) await (await request(`${api.url}api/kept`, { dispatcher })).body.dump()
    expect(api.requests.filter(({ url }) => url === '/api/kept')).toHaveLength(2)
  })

  test('a MockAgent sees the token, and each attempt', async () => {
    const mock = new undici.MockAgent()
    mock.disableNetConnect()
    const pool = mock.get('https://api.example.com')
    const sent: string[] = []
    const answer = (status: number) => (call: { headers?: unknown }) => {
      sent.push((call.headers as { authorization: string }).authorization)
      return { statusCode: status, data: String(status) }
    }
    for (const status of [401, 200])
      pool.intercept({ path: '/records', method: 'POST' }).reply(answer(status) as never)
    const manager = createManager({ apis: [{ baseUrl: 'https://api.example.com/', issuer: 'weblink' }] })
    const dispatcher = mock.compose(tokensInterceptor(manager))
    const options = { dispatcher, method: 'POST' as const, body: 'text' }
    const { statusCode } = await request('https://api.example.com/records', options)
    expect(statusCode).toBe(200)
    expect(new Set(sent).size).toBe(2)
    await manager.close()
  })

  test('a call with a live token parses no URL, which takes longer than the rest of its way', async () => {
    await tokens.warmUp()
    const onResponseError = vi.fn<() => void>()
    const handler = { onRequestStart() {}, onResponseError }
    const dispatch = tokensInterceptor(tokens)<object, typeof handler>((_, call) => {
      call.onResponseError()
      return true
    })
    const parses = vi.spyOn(URL, 'parse')
    dispatch({ origin: new URL(api.url).origin, path: '/api/a?b=/../c', method: 'GET' }, handler)
    expect(onResponseError).toHaveBeenCalledOnce()
    expect(parses).not.toHaveBeenCalled()
    parses.mockRestore()
  })

  test('a SnapshotAgent records a call, without the token if told so, and replays it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'snapshots-'))
    const snapshotPath = join(folder, 'calls.json')
    for (const mode of ['record', 'playback'] as const) {
      const agent = new undici.SnapshotAgent({ mode, snapshotPath, excludeHeaders: ['authorization'] })
      const dispatcher = agent.compose(tokensInterceptor(tokens))
      const { statusCode, body } = await request(`${api.url}api/a`, { dispatcher })
      expect([statusCode, await body.text()]).toEqual([200, 'ok'])
      await agent.close()
    }
    expect(seen()).toEqual([['/api/a', true]])
    expect(await readFile(snapshotPath, 'utf8')).not.toContain('Bearer')
    await rm(folder, { recursive: true })
  })

  test('a response that is not read does not fill the memory', async () => {
    const size = 50_000_000
    answers['/api/long'] = () => ({ status: 200, body: 'x'.repeat(size) })
    const { body } = await request(`${api.url}api/long`, { dispatcher: withTokens() })
    await vi.waitFor(() => expect(body.readableLength).toBeGreaterThan(0))
    await new Promise((resolve) => setImmediate(resolve))
    expect(body.readableLength).toBeLessThan(size / 10)
    let length = 0
    for await (const chunk of body) length += (chunk as Buffer).length
    expect(length).toBe(size)
  })
})

test('what is not a token manager is refused at once', () => {
  expect(() => tokensInterceptor({} as never)).toThrow('`tokens` must be')
})
