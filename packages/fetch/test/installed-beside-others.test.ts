import { openScriptedApi, rejection, type ScriptedApi } from '@tokenlane/conformance'
import { fakeTokens, type FakeTokens } from '@tokenlane/core/testing'
import * as undici from 'undici'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { installTokens } from '../src/index.ts'

type Fetch = typeof globalThis.fetch

const runtimes = globalThis.fetch

let api: ScriptedApi
let other: ScriptedApi
let tokens: FakeTokens
let others: FakeTokens

beforeEach(async () => {
  api = await openScriptedApi(({ url }, number) =>
    url.startsWith('/refused') && number === 1 ? rejection : { status: 200 },
  )
  other = await openScriptedApi()
  tokens = fakeTokens({ apis: [api.url] })
  others = fakeTokens({ apis: [other.url] })
})
afterEach(async () => {
  globalThis.fetch = runtimes
  await Promise.all([api.close(), other.close(), tokens.close(), others.close()])
})

/** Whether each request had a token. */
const authorized = (at = api): boolean[] =>
  at.requests.map(({ headers }) => headers.authorization !== undefined)

const orders = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
]

test.each(orders)(
  'three installs between wrappers are uninstalled in the order %i, %i, %i',
  async (...order) => {
    const saw: string[] = []
    const wrap = (name: string): void => {
      const inner = globalThis.fetch
      globalThis.fetch = (...call) => {
        saw.push(name)
        return inner(...call)
      }
    }
    const managers = [tokens, others, tokens]
    const uninstalls = managers.map((manager, at) => {
      wrap(`wrapper ${at}`)
      return installTokens(manager)
    })
    const active = new Set([0, 1, 2])
    for (const next of [undefined, ...order]) {
      if (next !== undefined) {
        uninstalls[next]!()
        active.delete(next)
      }
      saw.length = 0
      for (const at of [api, other]) await fetch(at.url)
      expect([authorized().at(-1), authorized(other).at(-1)]).toEqual([
        [...active].some((at) => managers[at] === tokens),
        active.has(1),
      ])
      expect(saw).toEqual([2, 1, 0, 2, 1, 0].map((at) => `wrapper ${at}`))
    }
    expect(api.requests.length + other.requests.length).toBe(8)
  },
)

test('a fetch that an SDK took before has no tokens, and one that it took after has them until uninstall', async () => {
  const early = globalThis.fetch
  const uninstall = installTokens(tokens)
  const late = globalThis.fetch
  await early(api.url)
  await late(api.url)
  uninstall()
  await late(api.url)
  expect(authorized()).toEqual([false, true, false])
})

test("Vitest's stubGlobal replaces it, and unstubAllGlobals brings the tokens back", async () => {
  const uninstall = installTokens(tokens)
  vi.stubGlobal('fetch', vi.fn<Fetch>().mockResolvedValue(new Response('mocked')))
  expect(await (await fetch(api.url)).text()).toBe('mocked')
  vi.unstubAllGlobals()
  await fetch(api.url)
  uninstall()
  expect(authorized()).toEqual([true])
  expect(globalThis.fetch).toBe(runtimes)
})

test("undici's global dispatcher is beneath, and undici's own fetch is none of it", async () => {
  const before = undici.getGlobalDispatcher()
  const sent: unknown[] = []
  const spy = new undici.Agent().compose((dispatch) => (options, handler) => {
    sent.push(new URL(options.path, options.origin).pathname)
    return dispatch(options, handler)
  })
  undici.setGlobalDispatcher(spy)
  try {
    installTokens(tokens)
    await fetch(`${api.url}refused`)
    await undici.fetch(`${api.url}own`)
  } finally {
    undici.setGlobalDispatcher(before)
  }
  expect(sent).toEqual(['/refused', '/refused', '/own'])
  expect(authorized()).toEqual([true, true, false])
})

class SdkRequest extends Request {
  constructor(path: string) {
    super(path, { method: 'POST', body: 'text', keepalive: true, headers: { 'x-sdk': '1' } })
  }
}

test("an SDK's own class of Request is sent again with its body, headers and keepalive", async () => {
  installTokens(tokens)
  expect((await fetch(new SdkRequest(`${api.url}refused`))).status).toBe(200)
  expect(api.requests.map(({ body, headers }) => [body.toString(), headers['x-sdk']])).toEqual([
    ['text', '1'],
    ['text', '1'],
  ])
})

test('a stream with duplex is sent once, and its 401 is the caller’s; the next call has a new token', async () => {
  installTokens(tokens)
  const body = new Blob(['text']).stream()
  const init = { method: 'POST', body, duplex: 'half' } as RequestInit
  expect((await fetch(`${api.url}refused`, init)).status).toBe(401)
  expect((await fetch(api.url)).status).toBe(200)
  expect(api.requests.map(({ body: read }) => read.toString())).toEqual(['text', ''])
  expect(new Set(api.requests.map(({ headers }) => headers.authorization)).size).toBe(2)
})

test('a patched fetch that reads more than the standard has (Next.js: cache, next) gets it with every attempt', async () => {
  const seen: unknown[] = []
  globalThis.fetch = (input, init) => {
    const { cache, next } = init as { cache?: unknown; next?: unknown }
    seen.push([cache, next])
    return runtimes(input, init)
  }
  installTokens(tokens)
  const init = { cache: 'force-cache', next: { revalidate: 60, tags: ['a'] } } as RequestInit
  await fetch(`${api.url}refused`, init)
  const expected = ['force-cache', { revalidate: 60, tags: ['a'] }]
  expect(seen).toEqual([expected, expected])
})
