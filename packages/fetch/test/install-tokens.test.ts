import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { openScriptedApi, rejection, type ScriptedApi } from '@tokenlane/conformance'
import type { TokenManager } from '@tokenlane/core'
import { fakeTokens } from '@tokenlane/core/testing'
import { http, passthrough } from 'msw'
import { setupServer } from 'msw/node'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { createFetch, installTokens } from '../src/index.ts'

type Fetch = typeof globalThis.fetch

const runtimes = globalThis.fetch
const run = promisify(execFile)

let api: ScriptedApi
let outside: ScriptedApi
let tokens: TokenManager

beforeEach(async () => {
  api = await openScriptedApi(({ url }, number) => {
    if (url.startsWith('/refused') && number === 1) return rejection
    if (url.startsWith('/in')) return { status: 307, headers: { location: '/there' } }
    if (url.startsWith('/out')) return { status: 307, headers: { location: `${outside.url}there` } }
    return { status: 200 }
  })
  outside = await openScriptedApi()
  tokens = fakeTokens({ apis: [api.url] })
})
afterEach(async () => {
  globalThis.fetch = runtimes
  await Promise.all([api.close(), outside.close(), tokens.close()])
})

/** Whether each request had a token. */
const authorized = (at = api): boolean[] =>
  at.requests.map(({ headers }) => headers.authorization !== undefined)

test('every fetch of the process has its token, with a URL or a Request, until uninstall', async () => {
  const uninstall = installTokens(tokens)
  const request = new Request(api.url, { headers: { 'x-a': 'b' } })
  for (const input of [api.url, new URL(api.url), request]) expect((await fetch(input)).status).toBe(200)
  expect([...request.headers]).toEqual([['x-a', 'b']])
  uninstall()
  expect(globalThis.fetch).toBe(runtimes)
  await fetch(api.url)
  expect(authorized()).toEqual([true, true, true, false])
})

test('a body is sent again after a 401, and redirects go as with createFetch', async () => {
  installTokens(tokens)
  await fetch(`${api.url}refused`, { method: 'POST', body: 'text' })
  expect(api.requests.map(({ body }) => body.toString())).toEqual(['text', 'text'])
  await fetch(`${api.url}in`)
  await fetch(`${api.url}out`)
  expect(authorized()).toEqual([true, true, true, true, true])
  expect(authorized(outside)).toEqual([false])
})

test('installing the same manager again changes nothing, and either uninstall ends it', async () => {
  const first = installTokens(tokens)
  const installed = globalThis.fetch
  const second = installTokens(tokens)
  expect(globalThis.fetch).toBe(installed)
  second()
  await fetch(api.url)
  first()
  expect(authorized()).toEqual([false])
  expect(globalThis.fetch).toBe(runtimes)
})

test('a manager that was uninstalled can be installed again', async () => {
  installTokens(tokens)()
  const uninstall = installTokens(tokens)
  await fetch(api.url)
  uninstall()
  expect(authorized()).toEqual([true])
})

test.each([
  ['first', [0, 1]],
  ['last', [1, 0]],
])('two managers serve their own APIs, and the one uninstalled %s leaves the other', async (_, order) => {
  const manager = fakeTokens({ apis: [outside.url] })
  const uninstall = [installTokens(tokens), installTokens(manager)]
  for (const url of [api.url, outside.url]) await fetch(url)
  expect([authorized(), authorized(outside)]).toEqual([[true], [true]])
  uninstall[order[0]!]!()
  for (const url of [api.url, outside.url]) await fetch(url)
  expect([authorized()[1], authorized(outside)[1]]).toEqual([order[0] !== 0, order[0] !== 1])
  uninstall[order[1]!]!()
  expect(globalThis.fetch).toBe(runtimes)
  await manager.close()
})

test('a fetch that was made of the installed one keeps its tokens after uninstall', async () => {
  const uninstall = installTokens(tokens)
  const own = createFetch(tokens)
  uninstall()
  await own(api.url)
  expect(authorized()).toEqual([true])
})

/** How others wrap the global `fetch`: each notes the paths that it sees. */
const wrappers: Record<string, (fetch: Fetch, saw: (url: string) => void) => Fetch> = {
  'Sentry, which hands on the arguments': (fetch, saw) =>
    function (this: unknown, ...call) {
      saw(new Request(...call).url)
      return fetch.apply(globalThis, call)
    },
  'OpenTelemetry, which makes another init': (fetch, saw) => (input, init) => {
    const url = input instanceof Request ? input.url : String(input)
    saw(url)
    const headers = new Headers(input instanceof Request ? input.headers : init?.headers)
    headers.set('traceparent', '00-1-2-01')
    return input instanceof Request
      ? fetch(new Request(input, { headers }))
      : fetch(url, { ...init, headers })
  },
  'Next.js, which works before it sends': (fetch, saw) => async (input, init) => {
    await new Promise((resolve) => setImmediate(resolve))
    const request = new Request(input, init)
    saw(request.url)
    return fetch(request.url, { ...init, method: request.method, headers: request.headers })
  },
}

describe.each(Object.entries(wrappers))('with %s', (_, wrap) => {
  const saw: string[] = []
  const note = (url: string): void => void saw.push(new URL(url).pathname)
  beforeEach(() => (saw.length = 0))

  test('wrapped before: it sees each attempt', async () => {
    globalThis.fetch = wrap(globalThis.fetch, note)
    const uninstall = installTokens(tokens)
    await fetch(`${api.url}refused`)
    uninstall()
    await fetch(`${api.url}after`)
    expect([saw, authorized()]).toEqual([
      ['/refused', '/refused', '/after'],
      [true, true, false],
    ])
  })

  test('wrapped after: it sees each call, and uninstall takes the tokens off beneath it', async () => {
    const uninstall = installTokens(tokens)
    globalThis.fetch = wrap(globalThis.fetch, note)
    const wrapped = globalThis.fetch
    await fetch(`${api.url}refused`)
    uninstall()
    expect(globalThis.fetch).toBe(wrapped)
    await fetch(`${api.url}after`)
    expect([saw, authorized()]).toEqual([
      ['/refused', '/after'],
      [true, true, false],
    ])
  })

  test('wrapped between two installs of the same manager: each call is sent once, and both have to go', async () => {
    const first = installTokens(tokens)
    globalThis.fetch = wrap(globalThis.fetch, note)
    const second = installTokens(tokens)
    await fetch(`${api.url}one`)
    second()
    await fetch(`${api.url}two`)
    first()
    await fetch(`${api.url}three`)
    expect([saw, authorized()]).toEqual([
      ['/one', '/two', '/three'],
      [true, true, false],
    ])
  })
})

describe('with msw', () => {
  const seen: string[] = []
  const server = setupServer(
    http.all('*', ({ request }) => {
      seen.push(request.headers.get('authorization') ?? 'none')
      return passthrough()
    }),
  )
  beforeEach(() => (seen.length = 0))

  test('that listens before, mocks see the token', async () => {
    server.listen()
    const uninstall = installTokens(tokens)
    await fetch(api.url)
    uninstall()
    server.close()
    expect([seen.map((value) => value.slice(0, 6)), authorized()]).toEqual([['Bearer'], [true]])
  })

  test('that listens after, and closes, the tokens are there again', async () => {
    const uninstall = installTokens(tokens)
    server.listen()
    await fetch(api.url)
    server.close()
    await fetch(api.url)
    uninstall()
    expect(authorized()).toEqual([true, true])
    expect(globalThis.fetch).toBe(runtimes)
  })
})

test('a fetch that is put in its place later is the global one, and uninstall leaves it there', async () => {
  const uninstall = installTokens(tokens)
  const mock = vi.fn<Fetch>().mockResolvedValue(new Response('mocked'))
  globalThis.fetch = mock
  expect(await (await fetch(api.url)).text()).toBe('mocked')
  uninstall()
  expect(globalThis.fetch).toBe(mock)
})

test('what is no manager, and a runtime without fetch, are refused at once', () => {
  expect(() => installTokens({} as never)).toThrow('Cannot install tokens: `tokens` must be')
  globalThis.fetch = undefined as never
  expect(() => installTokens(tokens)).toThrow('Cannot install tokens: `globalThis.fetch` must be a function')
})

test.each<[string, string[]]>([
  ['as it is', []],
  ['with frozen intrinsics', ['--frozen-intrinsics']],
])('node --import is first, and in workers too: %s', async (_, flags) => {
  const [preload, calls] = ['preload', 'calls'].map((name) => new URL(`programs/${name}.ts`, import.meta.url))
  const args = [...flags, `--import=${preload!.href}`, fileURLToPath(calls!)]
  await run(process.execPath, args, { env: { ...process.env, API: api.url } })
  expect(api.requests.map(({ url }) => url)).toEqual(['/in', '/there', '/worker'])
  expect(authorized()).toEqual([true, true, true])
})

test('nothing reads a stack: Error is frozen, and prepareStackTrace throws', async () => {
  const { prepareStackTrace } = Error
  Error.prepareStackTrace = () => {
    throw new Error('prepareStackTrace')
  }
  try {
    installTokens(tokens)
    expect((await fetch(`${api.url}in`)).status).toBe(200)
    expect((await fetch(`${api.url}out`)).status).toBe(200)
  } finally {
    Error.prepareStackTrace = prepareStackTrace
  }
  expect(authorized()).toEqual([true, true, true])
})
