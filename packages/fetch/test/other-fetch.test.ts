import { createServer } from 'node:http'

import type { TokenManager } from '@tokenlane/core'
import { openScriptedApi, rejection, type ScriptedApi } from '@tokenlane/conformance'
import { openService } from '@tokenlane/testing'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as undici from 'undici'

import { createFetch } from '../src/index.ts'

const { createManager } = await openService()
const runtimes = globalThis.fetch

let tokens: TokenManager
let api: ScriptedApi

/** The first request meets a 401, and one that asks for it a redirect. */
beforeEach(async () => {
  api = await openScriptedApi(({ url }, number) => {
    if (number === 1) return rejection
    return url.endsWith('moved') ? { status: 307, headers: { location: '/there' } } : { status: 200 }
  })
  tokens = createManager({ apis: [{ baseUrl: api.url, issuer: 'weblink' }] })
})
afterEach(async () => {
  // first: it puts back what a spy has replaced
  vi.restoreAllMocks()
  globalThis.fetch = runtimes
  await Promise.all([api.close(), tokens.close()])
})

describe("undici's own fetch", () => {
  const form = new undici.FormData()
  form.set('a', 'b')
  const bodies = { form, params: new URLSearchParams('a=b'), blob: new Blob(['abc']), text: 'abc' }

  test.each(Object.entries(bodies))(
    'sends a body of its kind %s again after a 401 and a 307',
    async (_, body) => {
      const fetch = createFetch(tokens, { fetch: undici.fetch })
      const response = await fetch(`${api.url}moved`, { method: 'POST', body: body as never })
      expect([response.status, api.requests.length]).toEqual([200, 3])
      expect(new Set(api.requests.map((request) => request.body.length)).size).toBe(1)
      expect(api.requests[2]).toMatchObject({ method: 'POST', url: '/there' })
    },
  )

  const pairs: [string, string][] = [
    ['X-Some-Name', '7'],
    ['A-Name', 'a'],
    ['X-Some-Name', '8'],
  ]
  test.each<[string, () => unknown]>([
    ['a literal', () => ({ 'X-Some-Name': '7', 'A-Name': 'a' })],
    ["undici's Headers", () => new undici.Headers({ 'X-Some-Name': '7', 'A-Name': 'a' })],
    ['pairs', () => pairs],
    ['a Map', () => new Map(pairs)],
    ['an iterator', () => pairs.values()],
  ])('gets the headers of %s as they are', async (_, headers) => {
    await createFetch(tokens, { fetch: undici.fetch })(api.url, { headers: headers() as never })
    await undici.fetch(api.url, { headers: headers() as never })
    const [, managed, bare] = api.requests.map(({ rawHeaders }) =>
      rawHeaders.flatMap((name, at) => (/-name$/i.test(name) ? [name, rawHeaders[at + 1]] : [])),
    )
    expect(managed).toEqual(bare)
  })

  test("takes undici's Request, with its body", async () => {
    const fetch = createFetch(tokens, { fetch: undici.fetch })
    const request = new undici.Request(`${api.url}moved`, { method: 'POST', body: 'abc' })
    expect((await fetch(request as never)).status).toBe(200)
    expect(api.requests.map(({ body }) => body.toString())).toEqual(['abc', 'abc', 'abc'])
  })
})

describe('a managed fetch that is installed as the global one', () => {
  /** Calls `fetch` later, as an agent that first asks its own settings. */
  const wrapped =
    (fetch: typeof globalThis.fetch, calls: string[]): typeof globalThis.fetch =>
    async (input, init) => {
      await Promise.resolve()
      // token requests go through it too
      if ((input as string).startsWith('http:')) calls.push(input as string)
      return fetch(input, init)
    }
  const outside = createServer((_, response) => response.end()).listen(0, '127.0.0.1')
  afterAll(() => outside.close())
  const elsewhere = (): string => `http://127.0.0.1:${(outside.address() as { port: number }).port}/`

  /** Sends a call to the API, and one elsewhere. */
  async function sendBoth(): Promise<void> {
    expect((await globalThis.fetch(api.url)).status).toBe(200)
    expect(api.requests.at(-1)?.headers.authorization).toMatch(/^Bearer ./)
    expect((await globalThis.fetch(elsewhere())).status).toBe(200)
  }

  test('and wrapped later sends each call once', async () => {
    const seen: string[] = []
    globalThis.fetch = createFetch(tokens)
    globalThis.fetch = wrapped(globalThis.fetch, seen)
    await sendBoth()
    expect(seen).toEqual([api.url, elsewhere()])
  })

  test('over a wrapper sends each attempt through it', async () => {
    const seen: string[] = []
    globalThis.fetch = wrapped(globalThis.fetch, seen)
    globalThis.fetch = createFetch(tokens)
    await sendBoth()
    expect(seen).toEqual([api.url, api.url, elsewhere()])
  })

  test('between two wrappers passes through both', async () => {
    const [below, above]: [string[], string[]] = [[], []]
    globalThis.fetch = wrapped(globalThis.fetch, below)
    globalThis.fetch = createFetch(tokens)
    globalThis.fetch = wrapped(globalThis.fetch, above)
    await sendBoth()
    expect([below.length, above.length]).toEqual([3, 2])
  })

  test('and made anew over the wrapper of the first one sends each call once', async () => {
    const seen: string[] = []
    globalThis.fetch = createFetch(tokens)
    globalThis.fetch = wrapped(globalThis.fetch, seen)
    globalThis.fetch = createFetch(tokens)
    await sendBoth()
    // the upper one attaches the token, and so sends again itself
    expect(seen).toEqual([api.url, api.url, elsewhere()])
    expect(api.requests).toHaveLength(2)
  })

  test('and mocked, then restored, is the managed one again', async () => {
    globalThis.fetch = createFetch(tokens)
    const mock = vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response('mocked'))
    expect(await (await globalThis.fetch(api.url)).text()).toBe('mocked')
    mock.mockRestore()
    await sendBoth()
  })
})

test('a managed fetch has the name and the length of fetch', () => {
  const { name, length } = createFetch(tokens)
  expect({ name, length }).toEqual({ name: runtimes.name, length: runtimes.length })
})
