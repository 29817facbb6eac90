import { createHash } from 'node:crypto'
import { inspect } from 'node:util'

import { openScriptedApi } from '@tokenlane/conformance'
import type { TokenManager } from '@tokenlane/core'
import { openService } from '@tokenlane/testing'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'

import { createFetch, installTokens } from '../src/index.ts'

const { sandbox, createManager, weblink, outside, redirect, calls, tokenRequests, revoke } =
  await openService()

let tokens: TokenManager
let fetch: typeof globalThis.fetch

beforeEach(() => {
  tokens = createManager()
  fetch = createFetch(tokens)
})

type Body = NonNullable<RequestInit['body']>
type Fields = NonNullable<RequestInit['headers']>

const bytes = new TextEncoder().encode('héllo wörld')
const sha256 = createHash('sha256').update(bytes).digest('hex')

describe('the token', () => {
  test('goes with a call to an API, whether string, URL or Request, and is not put onto the Request', async () => {
    const url = weblink('records?page=1')
    const request = new Request(url)
    for (const input of [url, new URL(url), request]) expect((await fetch(input)).status).toBe(200)
    expect(request.headers.has('authorization')).toBe(false)
    expect(tokenRequests()).toBe(1)
  })

  test('goes with a call whose init is null, as fetch takes it', async () => {
    const url = weblink('records')
    for (const input of [url, new Request(url)]) {
      const { status } = await fetch(input, null as never)
      expect(status).toBe(200)
    }
  })

  test('does not go with a Request that brings its own Authorization, which is sent once as it is', async () => {
    const headers = { Authorization: 'Bearer mine' }
    expect((await fetch(new Request(weblink('records'), { headers }))).status).toBe(401)
    expect([calls(), tokenRequests()]).toEqual([1, 0])
  })

  const pairs: [string, string][] = [['AUTHORIZATION', 'Bearer mine']]
  const iterable = { [Symbol.iterator]: () => pairs.values() }
  test.each([
    ['a literal', Object.fromEntries(pairs)],
    ['pairs', pairs],
    ['an iterable literal', iterable],
  ])('does not go with a call that brings its own as %s', async (_, headers) => {
    expect((await fetch(weblink('records'), { headers: headers as Fields })).status).toBe(401)
    expect([calls(), tokenRequests()]).toEqual([1, 0])
  })

  test.each([
    ['a literal', (fields: [string, string][]) => Object.fromEntries(fields)],
    ['pairs', (fields: [string, string][]) => fields],
    ['an iterable literal', (fields: [string, string][]) => ({ [Symbol.iterator]: () => fields.values() })],
    ['Headers', (fields: [string, string][]) => new Headers(fields)],
  ])('goes with the fields of %s', async (_, of) => {
    const headers = of([['x-request-id', '7']]) as Fields
    expect(await (await fetch(weblink('echo'), { method: 'POST', body: 'x', headers })).json()).toMatchObject(
      {
        headers: { 'x-request-id': '7' },
      },
    )
  })

  test('goes with the fields that a literal had when the call was made', async () => {
    const headers = { 'x-request-id': '7' }
    const call = fetch(weblink('echo'), { method: 'POST', body: 'x', headers })
    headers['x-request-id'] = '8'
    expect(await (await call).json()).toMatchObject({ headers: { 'x-request-id': '7' } })
  })

  test.each(['http://[', 'ftp://127.0.0.1/', 'http://user:password@127.0.0.1/'])(
    'does not change the error of a redirect to %s',
    async (place) => {
      const api = await openScriptedApi(() => ({ status: 302, headers: { location: place } }))
      const manager = createManager({ apis: [{ baseUrl: api.url, issuer: 'weblink' }] })
      const failure = (send: typeof globalThis.fetch): Promise<unknown> =>
        send(api.url).catch((error: Error) => {
          const { name, message, code, input } = error.cause as Error & { code?: string; input?: string }
          return { name, message, code, input }
        })
      expect(await failure(createFetch(manager))).toEqual(await failure(globalThis.fetch))
      await Promise.all([api.close(), manager.close()])
    },
  )

  test('is not on the init of the call, nor on the error of a redirect that cannot be followed', async () => {
    const { value } = await tokens.getToken('weblink')
    const init = { headers: { 'x-a': 'b' } }
    const error = await fetch(redirect('ftp://127.0.0.1/'), init).catch((e: unknown) => e)
    expect(error).toBeInstanceOf(TypeError)
    expect(inspect(error, { depth: 12 }) + JSON.stringify(error)).not.toContain(value)
    expect(init).toEqual({ headers: { 'x-a': 'b' } })
  })
})

test('a URL outside every API goes to the underlying fetch with the same objects', async () => {
  const base = vi.fn<typeof globalThis.fetch>(async () => new Response())
  const managed = createFetch(tokens, { fetch: base })
  const init = { method: 'POST' }
  for (const input of ['https://elsewhere.example/', '/relative', 'no url:', new Request(outside())]) {
    await managed(input, init)
    expect(base.mock.lastCall?.[0]).toBe(input)
    expect(base.mock.lastCall?.[1]).toBe(init)
  }
})

test('a call that is not managed reaches a mock with as many arguments as it was made with', async () => {
  const own = new Request(weblink('records'), { headers: { authorization: 'Basic x' } })
  for (const input of ['https://elsewhere.example/', own]) {
    const mock = vi.fn<typeof globalThis.fetch>(async () => new Response())
    await createFetch(tokens, { fetch: mock })(input)
    vi.stubGlobal('fetch', mock)
    onTestFinished(() => void vi.unstubAllGlobals())
    await fetch(input)
    installTokens(tokens)
    await globalThis.fetch(input)
    expect(mock.mock.calls).toEqual([[input], [input], [input]])
  }
})

test('what is neither text nor URL nor Request is text, as for fetch itself', async () => {
  const like = { toString: () => weblink('records') }
  expect((await fetch(like as never)).status).toBe(200)
  for (const none of [null, undefined])
    await expect(fetch(none as never)).rejects.toThrow(`Failed to parse URL from ${none}`)
})

describe('a Request with an init that leaves open, by undefined,', () => {
  const send = (input: Request, open: string): Promise<Response> => fetch(input, { [open]: undefined })

  test('headers and method is sent with its own', async () => {
    const init = { method: 'PATCH', body: 'x', headers: { 'x-request-id': '7' } }
    for (const open of ['headers', 'method'])
      expect(await (await send(new Request(weblink('echo'), init), open)).json()).toMatchObject({
        method: 'PATCH',
        headers: { 'x-request-id': '7' },
      })
  })

  test('headers is sent with its own Authorization', async () => {
    const headers = { Authorization: 'Bearer mine' }
    expect((await send(new Request(weblink('records'), { headers }), 'headers')).status).toBe(401)
    expect([calls(), tokenRequests()]).toEqual([1, 0])
  })

  test('redirect leaves a redirect to the caller who wants so', async () => {
    expect((await send(new Request(redirect('records'), { redirect: 'manual' }), 'redirect')).status).toBe(
      302,
    )
  })
})

const bodies: [string, () => Body][] = [
  ['string', () => 'héllo wörld'],
  ['Uint8Array', () => bytes],
  ['Blob', () => new Blob([bytes])],
]
test.each(bodies)('a 401 re-sends a Request with a body of type %s as it was', async (_, body) => {
  await revoke(tokens)
  const init = { method: 'PATCH', body: body(), duplex: 'half', headers: { 'X-Request-Id': '7' } } as const
  const response = await fetch(new Request(weblink('echo'), init))
  const headers = { 'x-request-id': '7' }
  expect(await response.json()).toMatchObject({ method: 'PATCH', sha256, length: bytes.length, headers })
  expect(calls()).toBe(2)
})

test("a 401 of a Request that was made of a stream is the caller's, and the stream is copied as often as by fetch", async () => {
  await revoke(tokens)
  const tee = vi.spyOn(ReadableStream.prototype, 'tee')
  const copies: number[] = []
  for (const send of [globalThis.fetch, fetch]) {
    tee.mockClear()
    const body = new Blob([bytes]).stream()
    const { status } = await send(new Request(weblink('echo'), { method: 'PUT', body, duplex: 'half' }))
    expect(status).toBe(401)
    copies.push(tee.mock.calls.length)
  }
  tee.mockRestore()
  expect([calls(), copies[1]]).toEqual([2, copies[0]])
})

test('a Request with a body is used up at once, as by fetch', async () => {
  const request = new Request(weblink('echo'), { method: 'POST', body: 'text' })
  const call = fetch(request)
  expect(request.bodyUsed).toBe(true)
  await expect(fetch(request)).rejects.toThrow(TypeError)
  expect((await call).status).toBe(200)
})

test('a Request of a subclass with other arguments is sent as it is', async () => {
  class Records extends Request {
    constructor(path: string) {
      super(weblink(path), { method: 'POST', body: path })
    }
  }
  expect(await (await fetch(new Records('echo'))).json()).toMatchObject({ method: 'POST', length: 4 })
})

test.each([
  ['no init', undefined],
  ['an init without one', { signal: undefined }],
])('the signal of a Request with %s ends its wait: AbortError, nothing sent', async (_, init) => {
  sandbox.control.slowIssuer('weblink', 60_000)
  const controller = new AbortController()
  const call = fetch(new Request(weblink('records'), { signal: controller.signal }), init as never)
  await vi.waitFor(() => expect(tokenRequests()).toBe(1), { timeout: 15_000 })
  controller.abort()
  await expect(call).rejects.toMatchObject({ name: 'AbortError' })
  expect(calls()).toBe(0)
})

test.each<[string, (url: string, init: RequestInit) => Parameters<typeof globalThis.fetch>]>([
  ['in init', (url, init) => [url, init]],
  ['in a Request', (url, init) => [new Request(url, init)]],
  ['in an init beside a Request', (url, init) => [new Request(url), init]],
])(
  'a stream %s whose call is aborted before it is sent is cancelled with the reason, as by fetch',
  async (_, call) => {
    const reason = new Error('enough')
    for (const send of [globalThis.fetch, fetch]) {
      const cancel = vi.fn<(reason: unknown) => void>()
      const body = new ReadableStream({ cancel })
      const init = { method: 'POST', body, duplex: 'half', signal: AbortSignal.abort(reason) } as RequestInit
      await expect(send(...call(weblink('echo'), init))).rejects.toBe(reason)
      expect(cancel.mock.calls).toEqual([[reason]])
    }
    expect(calls()).toBe(0)
  },
)

describe('a redirect', () => {
  test('inside the API is followed with the token', async () => {
    const response = await fetch(redirect('records?page=2'))
    for (const each of [response, response.clone(), response.clone().clone()])
      expect(each).toMatchObject({ status: 200, redirected: true, url: weblink('records?page=2') })
  })

  test.each([301, 302, 303, 307, 308])('%i out of the API carries no token', async (status) => {
    expect(await (await fetch(redirect(outside(), status))).json()).toEqual({ authorization: false })
  })

  test.each([302, 303])('%i turns a POST into a GET without a body', async (status) => {
    const response = await fetch(redirect('records', status), { method: 'POST', body: 'x' })
    expect(response.status).toBe(200)
  })

  test('that turned a POST into a GET sends only the GET again on a 401', async () => {
    const response = await fetch(redirect('status/401', 303), { method: 'POST', body: 'x' })
    expect([response.status, calls()]).toEqual([401, 3])
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

  test('whose body breaks off is followed', async () => {
    const body = new ReadableStream({ start: (controller) => controller.error(new Error('broken')) })
    const base = vi
      .fn<typeof globalThis.fetch>()
      .mockResolvedValueOnce(new Response(body, { status: 302, headers: { location: 'records' } }))
      .mockResolvedValueOnce(new Response('here'))
    expect(await (await createFetch(tokens, { fetch: base })(weblink('moved'))).text()).toBe('here')
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

  test('gives an underlying fetch that adds to the Headers of a call new ones in each attempt', async () => {
    const seen: (string | null)[] = []
    const base: typeof globalThis.fetch = async (_, init) => {
      const headers = init?.headers as Headers
      headers.append('x-trace', 'one')
      seen.push(headers.get('x-trace'))
      return new Response(null, { status: seen.length === 1 ? 401 : 200 })
    }
    const headers = new Headers()
    const managed = createFetch(tokens, { fetch: base })
    expect((await managed(weblink('records'), { headers })).status).toBe(200)
    expect([seen, headers.has('x-trace')]).toEqual([['one', 'one'], false])
  })

  test('can stand in for the global fetch', async () => {
    const before = globalThis.fetch
    try {
      globalThis.fetch = fetch
      globalThis.fetch = createFetch(createManager())
      expect((await globalThis.fetch(weblink('records'))).status).toBe(200)
      expect((await fetch(weblink('records'))).status).toBe(200)
    } finally {
      globalThis.fetch = before
    }
  })

  test.each<[string, object]>([
    ['undici', { dispatcher: {} }],
    ['Next.js', { next: { revalidate: 60 } }],
    ['Cloudflare', { cf: { cacheTtl: 5 }, fetcher: {} }],
    ['Bun', { proxy: 'http://proxy.test', tls: { ca: 'pem' }, verbose: true, decompress: false }],
    ['Deno', { client: {} }],
    ['any later runtime', { soon: 1 }],
  ])(
    'hands what the fetch of %s takes beyond the standard to each request, redirects too',
    async (_, beyond) => {
      const seen: unknown[] = []
      const base: typeof globalThis.fetch = async (_input, init) => {
        seen.push(init)
        return new Response(null, {
          status: 302,
          headers: { location: seen.length === 3 ? outside() : 'on' },
        })
      }
      const managed = createFetch(tokens, { fetch: base })
      const url = weblink('records')
      for (const [input, init] of [
        [url, {}],
        [new Request(url), {}],
        [new Request(url, { method: 'POST', body: 'text' }), {}],
        [new Request(url), { method: 'POST', body: 'text', headers: { 'x-a': 'b' } }],
      ] as const) {
        seen.length = 0
        await managed(input, { ...init, ...beyond })
        expect(seen).toEqual(Array.from({ length: 4 }, () => expect.objectContaining(beyond)))
      }
    },
  )

  test('takes a Request as init', async () => {
    const like = new Request('https://elsewhere.example/', { method: 'DELETE' })
    expect(await (await fetch(weblink('echo'), like)).json()).toMatchObject({ method: 'DELETE' })
  })

  test('refuses wrong arguments at once', () => {
    const code = 'INVALID_OPTIONS'
    expect(() => createFetch(undefined as never)).toThrow(expect.objectContaining({ code }))
    expect(() => createFetch(tokens, { fetch: 1 as never })).toThrow(expect.objectContaining({ code }))
  })

  test('takes no `fetch` that other code has put on every object', async () => {
    const prototype = Object.prototype as { fetch?: unknown }
    const strayed = vi.fn<() => void>()
    prototype.fetch = strayed
    const own = createFetch(tokens, {})
    delete prototype.fetch
    expect((await own(weblink('records'))).status).toBe(200)
    expect(strayed).not.toHaveBeenCalled()
  })
})
