import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Agent } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import tls from 'node:tls'
import { inspect } from 'node:util'

import { createTokenManager, generalIssuer, weblinkIssuer, type TokenManager } from '@tokenlane/core'
import { startSandbox, type Sandbox } from '@tokenlane/sandbox'
import axios, { AxiosError, type AxiosInstance } from 'axios'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

import { attachTokens } from '../src/index.ts'

let sandbox: Sandbox
let tokens: TokenManager
let client: AxiosInstance
let detach: () => void
let httpsAgent: Agent

beforeAll(async () => {
  sandbox = await startSandbox({ records: 10 })
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), sandbox.ca])
  httpsAgent = new Agent({ ca: sandbox.ca, keepAlive: true })
})

afterAll(async () => {
  httpsAgent.destroy()
  await sandbox.close()
})

beforeEach(() => {
  sandbox.control.restoreApi()
  sandbox.control.restoreIssuer()
  tokens = createTokenManager({
    issuers: {
      general: generalIssuer({ authUrl: sandbox.authUrl, credentials: sandbox.credentials.general }),
      weblink: weblinkIssuer({ authUrl: sandbox.weblinkAuthUrl, credentials: sandbox.credentials.weblink }),
    },
    apis: [
      { baseUrl: sandbox.apiUrl, issuer: 'general' },
      { baseUrl: sandbox.weblinkUrl, issuer: 'weblink' },
    ],
  })
  client = axios.create({ baseURL: sandbox.weblinkUrl, httpsAgent, validateStatus: () => true })
  detach = attachTokens(client, tokens)
  sandbox.control.resetCounts()
})

const bytes = Buffer.from('héllo wörld')
const sha256 = createHash('sha256').update(bytes).digest('hex')
const outside = (): string => new URL('/outside/page', sandbox.weblinkUrl).href
const calls = (): number => sandbox.control.counts().apis.weblink.calls
const tokenRequests = (): number => sandbox.control.counts().issuers.weblink.requests
const strict = { validateStatus: (status: number) => status < 300 }
const failure = (call: Promise<unknown>): Promise<AxiosError> =>
  call.then(
    () => expect.fail('the call succeeded'),
    (error: unknown) => error as AxiosError,
  )

async function holdRevokedToken(): Promise<string> {
  const { value } = await tokens.getToken('weblink')
  sandbox.control.revokeTokens('weblink')
  sandbox.control.resetCounts()
  return value
}

describe('the token', () => {
  test('goes with a call to an API', async () => {
    expect((await client.get('records', { params: { page: 1 } })).status).toBe(200)
    expect((await client.get(`${sandbox.apiUrl}records`)).status).toBe(200)
    expect((await client.get('records', { adapter: 'fetch' })).status).toBe(200)
    expect(tokenRequests()).toBe(1)
  })

  test('does not go with a call that brings Authorization or auth of its own', async () => {
    expect((await client.get('records', { headers: { authorization: 'Bearer mine' } })).status).toBe(401)
    expect((await client.get('records', { auth: { username: 'a', password: 'b' } })).status).toBe(401)
    expect([calls(), tokenRequests()]).toEqual([2, 0])
  })

  test('is not known: nothing is sent', async () => {
    sandbox.control.failIssuer('weblink', { status: 400, body: { error: 'invalid_client' } })
    await expect(client.get('records')).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
    expect(calls()).toBe(0)
  })

  test.each(['http', 'fetch'])('is on nothing that the %s adapter leaves', async (adapter) => {
    const { value } = await tokens.getToken('weblink')
    for (const responseType of ['json', 'stream'] as const) {
      const options = { adapter, responseType }
      const response = await client.get('records', options)
      const error = await failure(client.get('status/503', { ...options, ...strict }))
      expect(error).toBeInstanceOf(AxiosError)
      for (const kept of [response, error, error.response])
        expect(inspect(kept, { depth: 12 })).not.toContain(value)
      expect(JSON.stringify(error)).not.toContain(value)
      for (const { data } of [response, error.response ?? response]) data?.destroy?.()
    }
    const aborted = await failure(client.get('slow?ms=60000', { adapter, timeout: 50 }))
    expect(inspect(aborted, { depth: 12 })).not.toContain(value)
  })
})

test('a URL of no API sees the same request as without Tokenlane', async () => {
  const seen: unknown[] = []
  const server = createServer((request, response) => {
    seen.push([request.method, request.url, request.rawHeaders])
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a?b=c%20d`
  const send = () => client.put(url, { x: 1 }, { headers: { 'X-Some': 'Thing' }, params: { e: 'f' } })
  await send()
  detach()
  await send()
  expect(seen[0]).toEqual(seen[1])
  server.close()
  server.closeAllConnections()
})

describe('a 401', () => {
  test('renews once and sends once more, whatever validateStatus says', async () => {
    for (const options of [{}, strict, { responseType: 'stream' as const }]) {
      await holdRevokedToken()
      const response = await client.get('records', options)
      expect([response.status, calls(), tokenRequests()]).toEqual([200, 2, 1])
      response.data?.destroy?.()
    }
  })

  test("is the caller's the second time", async () => {
    const error = await failure(client.get('status/401', strict))
    expect(error).toMatchObject({ name: 'AxiosError', status: 401 })
    expect(calls()).toBe(2)
  })

  const bodies: [string, () => unknown][] = [
    ['string', () => bytes.toString()],
    ['Buffer', () => bytes],
    ['Uint8Array', () => new Uint8Array(bytes)],
    ['ArrayBuffer', () => new Uint8Array(bytes).buffer],
    ['Blob', () => new Blob([bytes])],
  ]
  test.each(bodies)('re-sends a body of type %s as it was', async (_, body) => {
    await holdRevokedToken()
    const { data } = await client.patch('echo', body(), { headers: { 'X-Request-Id': '7' } })
    expect(data).toMatchObject({ method: 'PATCH', sha256, headers: { 'x-request-id': '7' } })
    expect(calls()).toBe(2)
  })

  test('re-sends objects and forms', async () => {
    await holdRevokedToken()
    const { data } = await client.post('echo', { a: 1 })
    expect(data).toMatchObject({ length: 7, contentType: 'application/json' })
    await holdRevokedToken()
    expect((await client.post('echo', new URLSearchParams({ a: 'b' }))).data.length).toBe(3)
    await holdRevokedToken()
    const form = new FormData()
    form.set('a', 'b')
    expect((await client.post('echo', form)).data.contentType).toContain('multipart/form-data')
    expect(calls()).toBe(2)
  })

  test('surfaces at once for a stream', async () => {
    await holdRevokedToken()
    expect((await client.post('echo', Readable.from([bytes]))).status).toBe(401)
    expect(calls()).toBe(1)
    expect((await client.post('echo', Readable.from([bytes]))).data.sha256).toBe(sha256)
  })
})

describe('an abort is a CanceledError', () => {
  const canceled = { name: 'CanceledError', code: 'ERR_CANCELED' }

  test('before the call, with nothing sent', async () => {
    await expect(client.get('records', { signal: AbortSignal.abort() })).rejects.toMatchObject(canceled)
    expect([calls(), tokenRequests()]).toEqual([0, 0])
  })

  test('while the issuer is slow, with nothing sent, by signal and by cancelToken', async () => {
    sandbox.control.slowIssuer('weblink', 500)
    const controller = new AbortController()
    const source = axios.CancelToken.source()
    const call = failure(client.get('records', { signal: controller.signal }))
    const old = failure(client.get('records', { cancelToken: source.token }))
    await vi.waitFor(() => expect(tokenRequests()).toBe(1))
    controller.abort()
    source.cancel()
    expect([await call, await old]).toMatchObject([canceled, canceled])
    expect(calls()).toBe(0)
  })

  test('in flight', async () => {
    const controller = new AbortController()
    const call = failure(client.get('slow?ms=60000', { signal: controller.signal }))
    await vi.waitFor(() => expect(calls()).toBe(1))
    controller.abort()
    expect(await call).toMatchObject(canceled)
  })
})

describe('a redirect', () => {
  const to = (url: string) => ({ params: { to: url } })

  test('inside the API is followed with the token', async () => {
    expect((await client.get('redirect', to('records'))).status).toBe(200)
  })

  test("out of the API carries no token, and the caller's beforeRedirect still runs", async () => {
    const beforeRedirect = vi.fn<() => void>()
    const { data } = await client.get('redirect', { ...to(outside()), beforeRedirect })
    expect(data).toEqual({ authorization: false })
    expect(beforeRedirect).toHaveBeenCalledOnce()
  })

  test('to another API carries no token, and its 401 costs no token request', async () => {
    expect((await client.get('redirect', to(`${sandbox.apiUrl}records`))).status).toBe(401)
    expect([calls(), tokenRequests()]).toEqual([1, 1])
  })

  test('is not followed by the fetch adapter', async () => {
    expect((await client.get('redirect', { ...to(outside()), adapter: 'fetch' })).status).toBe(302)
  })
})

describe('attachTokens', () => {
  test('twice is once, and detach takes the tokens off', async () => {
    expect(attachTokens(client, tokens)).toBe(detach)
    await holdRevokedToken()
    expect((await client.get('records')).status).toBe(200)
    expect(calls()).toBe(2)
    detach()
    expect((await client.get('records')).status).toBe(401)
  })

  test('refuses wrong arguments at once', () => {
    const refused = expect.objectContaining({ code: 'INVALID_OPTIONS' })
    expect(() => attachTokens(undefined as never, tokens)).toThrow(refused)
    expect(() => attachTokens(client, {} as never)).toThrow(refused)
  })
})
