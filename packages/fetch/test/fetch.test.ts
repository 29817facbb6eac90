import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'
import { inspect } from 'node:util'

import { createTokenManager, generalIssuer, weblinkIssuer, type TokenManager } from '@tokenlane/core'
import { startSandbox, type Sandbox } from '@tokenlane/sandbox'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

import { createFetch } from '../src/index.ts'

let sandbox: Sandbox
let tokens: TokenManager
let fetch: typeof globalThis.fetch

beforeAll(async () => {
  sandbox = await startSandbox({ records: 10 })
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), sandbox.ca])
})

afterAll(() => sandbox.close())

beforeEach(() => {
  sandbox.control.restoreApi()
  sandbox.control.restoreIssuer()
  tokens = managerFor()
  fetch = createFetch(tokens)
  sandbox.control.resetCounts()
})

function managerFor(): TokenManager {
  return createTokenManager({
    issuers: {
      general: generalIssuer({ authUrl: sandbox.authUrl, credentials: sandbox.credentials.general }),
      weblink: weblinkIssuer({ authUrl: sandbox.weblinkAuthUrl, credentials: sandbox.credentials.weblink }),
    },
    apis: [
      { baseUrl: sandbox.apiUrl, issuer: 'general' },
      { baseUrl: sandbox.weblinkUrl, issuer: 'weblink' },
    ],
  })
}

type Body = NonNullable<RequestInit['body']>

const bytes = new TextEncoder().encode('héllo wörld')
const sha256 = createHash('sha256').update(bytes).digest('hex')
const weblink = (path: string): string => sandbox.weblinkUrl + path
const outside = (): string => new URL('/outside/page', sandbox.weblinkUrl).href
const redirect = (to: string, status = 302): string =>
  weblink(`redirect?to=${encodeURIComponent(to)}&status=${status}`)
const calls = (): number => sandbox.control.counts().apis.weblink.calls
const tokenRequests = (): number => sandbox.control.counts().issuers.weblink.requests

/** Makes the token that the manager holds a revoked one. */
async function holdRevokedToken(): Promise<void> {
  await tokens.getToken('weblink')
  sandbox.control.revokeTokens('weblink')
  sandbox.control.resetCounts()
}

describe('the token', () => {
  test('goes with a call to an API, whether string, URL or Request', async () => {
    const url = weblink('records?page=1')
    for (const input of [url, new URL(url), new Request(url)]) expect((await fetch(input)).status).toBe(200)
    expect((await fetch(`${sandbox.apiUrl}records`)).status).toBe(200)
    expect(tokenRequests()).toBe(1)
  })

  test('does not go with a call that brings its own Authorization, which is sent once as it is', async () => {
    const headers = { Authorization: 'Bearer mine' }
    expect((await fetch(weblink('records'), { headers })).status).toBe(401)
    expect((await fetch(new Request(weblink('records'), { headers }))).status).toBe(401)
    expect([calls(), tokenRequests()]).toEqual([2, 0])
  })

  test('is not known: nothing is sent', async () => {
    sandbox.control.failIssuer('weblink', { status: 400, body: { error: 'invalid_client' } })
    await expect(fetch(weblink('records'))).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
    expect(calls()).toBe(0)
  })

  test('is on nothing that the caller gets', async () => {
    const { value } = await tokens.getToken('weblink')
    const init = { headers: { 'x-a': 'b' } }
    const response = await fetch(weblink('records'), init)
    expect(inspect([response, init], { depth: 12 })).not.toContain(value)
    sandbox.control.failApi('weblink', { status: 503 })
    const failed = await fetch(redirect('ftp://127.0.0.1/'), init)
    sandbox.control.restoreApi()
    const error = await fetch(redirect('ftp://127.0.0.1/')).catch((e: unknown) => e)
    expect(error).toBeInstanceOf(TypeError)
    expect(inspect([failed, error], { depth: 12 }) + JSON.stringify(error)).not.toContain(value)
    expect(init).toEqual({ headers: { 'x-a': 'b' } })
  })
})

describe('a URL of no API', () => {
  test('goes to the underlying fetch with the same objects', async () => {
    const base = vi.fn<typeof globalThis.fetch>(async () => new Response())
    const managed = createFetch(tokens, { fetch: base })
    const init = { method: 'POST' }
    for (const input of ['https://elsewhere.example/', '/relative', 'no url:', new Request(outside())]) {
      await managed(input, init)
      expect(base.mock.lastCall?.[0]).toBe(input)
      expect(base.mock.lastCall?.[1]).toBe(init)
    }
  })

  test('sees the same request as without Tokenlane', async () => {
    const seen: unknown[] = []
    const server = createServer((request, response) => {
      seen.push([request.method, request.url, request.rawHeaders])
      response.end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a?b=c%20d`
    const init = { method: 'PUT', body: 'x', headers: { 'X-Some': 'Thing' } }
    await globalThis.fetch(url, init)
    await fetch(url, init)
    expect(seen[1]).toEqual(seen[0])
    server.close()
    server.closeAllConnections()
  })
})

describe('a 401', () => {
  test('renews once and sends once more', async () => {
    await holdRevokedToken()
    expect((await fetch(weblink('records'))).status).toBe(200)
    expect([calls(), tokenRequests()]).toEqual([2, 1])
  })

  test("is the caller's the second time", async () => {
    expect((await fetch(weblink('status/401'))).status).toBe(401)
    expect(calls()).toBe(2)
  })

  const bodies: [string, () => Body][] = [
    ['string', () => 'héllo wörld'],
    ['ArrayBuffer', () => bytes.slice().buffer],
    ['Uint8Array', () => bytes],
    ['Buffer', () => Buffer.from(bytes)],
    ['Blob', () => new Blob([bytes])],
  ]
  test.each(bodies)('re-sends a body of type %s as it was', async (_, body) => {
    for (const inRequest of [false, true]) {
      await holdRevokedToken()
      const init = { method: 'PATCH', body: body(), headers: { 'X-Request-Id': '7' } }
      const response = await (inRequest
        ? fetch(new Request(weblink('echo'), init))
        : fetch(weblink('echo'), init))
      const echo = (await response.json()) as { headers: Record<string, string> }
      expect(echo).toMatchObject({ method: 'PATCH', sha256, length: bytes.length })
      expect(echo.headers).toMatchObject({ 'x-request-id': '7', 'content-length': `${bytes.length}` })
      expect(calls()).toBe(2)
    }
  })

  test('re-sends forms', async () => {
    await holdRevokedToken()
    const form = await fetch(weblink('echo'), { method: 'POST', body: new URLSearchParams({ a: 'b c' }) })
    expect(await form.json()).toMatchObject({
      length: 5,
      contentType: 'application/x-www-form-urlencoded;charset=UTF-8',
    })
    await holdRevokedToken()
    const body = new FormData()
    body.set('a', new Blob([bytes]), 'a.txt')
    const multipart = await fetch(weblink('echo'), { method: 'POST', body })
    expect(await multipart.json()).toMatchObject({ contentType: expect.stringContaining('multipart/') })
    expect(calls()).toBe(2)
  })

  const streams: [string, () => Body][] = [
    ['ReadableStream', () => new Blob([bytes]).stream() as Body],
    [
      'async generator',
      () =>
        (async function* generate() {
          yield bytes
        })(),
    ],
  ]
  test.each(streams)('surfaces at once for a body of type %s', async (_, body) => {
    await holdRevokedToken()
    const send = () => fetch(weblink('echo'), { method: 'POST', body: body(), duplex: 'half' })
    expect((await send()).status).toBe(401)
    expect(calls()).toBe(1)
    expect(await (await send()).json()).toMatchObject({ sha256 })
  })
})

describe('an abort', () => {
  test('before the call: AbortError, nothing sent', async () => {
    const signal = AbortSignal.abort()
    await expect(fetch(weblink('records'), { signal })).rejects.toMatchObject({ name: 'AbortError' })
    expect([calls(), tokenRequests()]).toEqual([0, 0])
  })

  test('while the issuer is slow: AbortError at once, nothing sent', async () => {
    sandbox.control.slowIssuer('weblink', 500)
    const controller = new AbortController()
    const call = fetch(new Request(weblink('records'), { signal: controller.signal }))
    await vi.waitFor(() => expect(tokenRequests()).toBe(1))
    controller.abort()
    await expect(call).rejects.toMatchObject({ name: 'AbortError' })
    expect(calls()).toBe(0)
  })

  test('in flight: AbortError', async () => {
    const controller = new AbortController()
    const call = fetch(weblink('slow?ms=60000'), { signal: controller.signal })
    await vi.waitFor(() => expect(calls()).toBe(1))
    controller.abort()
    await expect(call).rejects.toMatchObject({ name: 'AbortError' })
  })
})

describe('a redirect', () => {
  test('inside the API is followed with the token', async () => {
    const response = await fetch(redirect('records?page=2'))
    expect(response).toMatchObject({ status: 200, redirected: true, url: weblink('records?page=2') })
  })

  test.each([301, 302, 303, 307, 308])('%i out of the API carries no token', async (status) => {
    expect(await (await fetch(redirect(outside(), status))).json()).toEqual({ authorization: false })
  })

  test('to another API carries no token, and none of the other', async () => {
    expect((await fetch(redirect(`${sandbox.apiUrl}records`))).status).toBe(401)
    expect([calls(), tokenRequests()]).toEqual([1, 1])
    expect(sandbox.control.counts().issuers.general.requests).toBe(0)
  })

  test.each([302, 303])('%i turns a POST into a GET without a body', async (status) => {
    const response = await fetch(redirect('records', status), { method: 'POST', body: 'x' })
    expect(response.status).toBe(200)
  })

  test.each([307, 308])('%i sends the body again', async (status) => {
    const init = { method: 'POST', body: bytes }
    for (const response of [
      await fetch(redirect('echo', status), init),
      await fetch(new Request(redirect('echo', status), init)),
    ])
      expect(await response.json()).toMatchObject({
        method: 'POST',
        sha256,
        headers: { 'content-length': `${bytes.length}` },
      })
  })

  test('307 of a stream is a TypeError', async () => {
    const body = new Blob([bytes]).stream()
    const init = { method: 'POST', body, duplex: 'half' } as RequestInit
    await expect(fetch(redirect('echo', 307), init)).rejects.toThrow(TypeError)
  })

  test('is followed 20 times, and no more', async () => {
    const base = vi.fn<typeof globalThis.fetch>(
      async () => new Response(null, { status: 302, headers: { location: '' } }),
    )
    await expect(createFetch(tokens, { fetch: base })(weblink('loop'))).rejects.toThrow('fetch failed')
    expect(base).toHaveBeenCalledTimes(21)
  })

  test('is left to the caller who wants so', async () => {
    expect((await fetch(redirect('records'), { redirect: 'manual' })).status).toBe(302)
    await expect(fetch(redirect('records'), { redirect: 'error' })).rejects.toThrow(TypeError)
  })
})

describe('createFetch', () => {
  test('manages a managed fetch once', () => {
    expect(createFetch(tokens, { fetch })).toBe(fetch)
  })

  test('can stand in for the global fetch', async () => {
    const before = globalThis.fetch
    try {
      globalThis.fetch = fetch
      globalThis.fetch = createFetch(managerFor())
      expect((await globalThis.fetch(weblink('records'))).status).toBe(200)
      expect((await fetch(weblink('records'))).status).toBe(200)
    } finally {
      globalThis.fetch = before
    }
  })

  test('takes a Request as init', async () => {
    const like = new Request('https://elsewhere.example/', { method: 'DELETE' })
    expect(await (await fetch(weblink('echo'), like)).json()).toMatchObject({ method: 'DELETE' })
  })

  test('refuses wrong arguments at once', () => {
    const code = 'INVALID_OPTIONS'
    expect(() => createFetch(undefined as never)).toThrow(expect.objectContaining({ code }))
    expect(() => createFetch(tokens, { fetch: 1 as never })).toThrow(expect.objectContaining({ code }))
  })
})
