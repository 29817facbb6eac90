import { openScriptedApi, type ScriptedApi, type ScriptedResponse } from '@tokenlane/conformance'
import type { TokenManager } from '@tokenlane/core'
import { openService } from '@tokenlane/testing'
import * as undici7 from 'undici'
import * as undici8 from 'undici-8'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { tokensInterceptor } from '../src/index.ts'

const { createManager } = await openService()
const versions = [
  { version: 7, undici: undici7 },
  { version: 8, undici: undici8 as unknown as typeof undici7 },
]

let api: ScriptedApi
let tokens: TokenManager
let answers: Record<string, ScriptedResponse>

beforeEach(async () => {
  answers = {}
  api = await openScriptedApi(({ url }) => answers[url] ?? { status: 200, body: 'ok' })
  tokens = createManager({
    apis: [
      { baseUrl: `${api.url}api/`, issuer: 'weblink' },
      { baseUrl: `${api.url}other/`, issuer: 'weblink' },
    ],
  })
  await tokens.getToken('weblink')
})
afterEach(() => Promise.all([api.close(), tokens.close()]))

function redirect(from: string, to: string, body = 'moved'): void {
  answers[from] = { status: 307, headers: { location: to }, body }
}

/** Returns the path of each request, and whether it had a token. */
const seen = (): string[] =>
  api.requests.map(({ url, headers }) => (headers.authorization === undefined ? url : `${url} with a token`))

/** Places that clients read differently, or not at all. */
const oddPlaces = [
  '/api/é',
  'http://[',
  'http://127.0.0.1:99999/',
  '//',
  '\u0080',
  'http:///api/a',
  '/api/%zz',
]

describe.each(versions)('undici $version', ({ undici }) => {
  const { Agent, interceptors, request } = undici
  const { redirect: follow, retry } = interceptors
  const withTokens = (manager = tokens): undici7.Dispatcher => new Agent().compose(tokensInterceptor(manager))

  /** In which orders callers compose their interceptors. */
  const orders: [string, (manager?: TokenManager) => undici7.Dispatcher][] = [
    ['redirect', (manager) => withTokens(manager).compose(follow({ maxRedirections: 5 }))],
    ['redirect, retry', (manager) => withTokens(manager).compose(follow({ maxRedirections: 5 }), retry())],
    ['retry, redirect', (manager) => withTokens(manager).compose(retry(), follow({ maxRedirections: 5 }))],
  ]

  describe.each(orders)('with %s after the tokens', (_, compose) => {
    const get = async (path: string): Promise<number> => {
      const { statusCode, body } = await request(new URL(path, api.url), { dispatcher: compose() })
      await body.dump()
      return statusCode
    }

    test('the token goes along within its API, and never after a hop out of it', async () => {
      redirect('/api/in', '/api/out')
      redirect('/api/out', '/outside')
      redirect('/outside', '/api/back')
      expect(await get('/api/in')).toBe(200)
      expect(seen()).toEqual(['/api/in with a token', '/api/out with a token', '/outside', '/api/back'])
    })

    test("into an API from outside, or from another API, a redirect carries none of that API's token", async () => {
      redirect('/outside', '/api/a')
      redirect('/other/a', '/api/b')
      await get('/outside')
      await get('/other/a')
      expect(seen()).toEqual(['/outside', '/api/a', '/other/a with a token', '/api/b'])
    })

    test('goes before queued calls', async () => {
      const limited = createManager({
        apis: [
          {
            baseUrl: `${api.url}api/`,
            issuer: 'weblink',
            ratePolicy: { limits: [{ quota: 100, window: 1_000 }], concurrency: 1 },
          },
        ],
      })
      await limited.getToken('weblink')
      redirect('/api/in', '/api/there')
      const dispatcher = compose(limited)
      await Promise.all(
        ['in', '1', '2'].map(async (path) =>
          (await request(`${api.url}api/${path}`, { dispatcher })).body.dump(),
        ),
      )
      await limited.close()
      // the slot of the first request was free before its hop was known
      expect(api.requests.map(({ url }) => url)).toEqual(['/api/in', '/api/1', '/api/there', '/api/2'])
    })
  })

  test.each(oddPlaces)('after a redirect to %j, the next call of the same turn has its token', async (to) => {
    const dispatcher = withTokens()
    const location = Buffer.from(to).toString('latin1')
    for (const from of ['/outside', '/other/a']) {
      redirect(from, location)
      // the turn goes on in a microtask, as soon as the headers are there
      const { body } = await request(new URL(from, api.url), { dispatcher })
      const next = await request(`${api.url}api/next`, { dispatcher })
      await Promise.all([body.dump(), next.body.dump()])
      expect(seen().at(-1)).toBe('/api/next with a token')
    }
  })

  test('a redirect that the caller follows by hand is a call of its own', async () => {
    redirect('/outside', '/api/in')
    redirect('/other/a', '/api/in')
    const dispatcher = withTokens()
    for (const from of ['/outside', '/other/a']) {
      const { headers, body } = await request(new URL(from, api.url), { dispatcher })
      const hop = await request(new URL(String(headers['location']), api.url), { dispatcher })
      await Promise.all([body.dump(), hop.body.dump()])
    }
    expect(seen().filter((path) => path.startsWith('/api/'))).toEqual([
      '/api/in with a token',
      '/api/in with a token',
    ])
  })

  test('a redirect that is not followed and not read keeps neither its slot nor the manager', async () => {
    const manager = createManager({
      apis: [
        {
          baseUrl: `${api.url}api/`,
          issuer: 'weblink',
          ratePolicy: { limits: [{ quota: 100, window: 1_000 }], concurrency: 1 },
        },
      ],
    })
    redirect('/api/in', '/api/there', 'x'.repeat(3_000_000))
    for (const maxRedirections of [0, 1]) {
      if (maxRedirections === 1) redirect('/api/there', '/api/again', 'x'.repeat(3_000_000))
      const dispatcher = new Agent().compose(tokensInterceptor(manager), follow({ maxRedirections }))
      const { statusCode, body } = await request(`${api.url}api/in`, { dispatcher })
      expect(statusCode).toBe(307)
      const next = await request(`${api.url}api/next`, { dispatcher })
      await next.body.dump()
      body.destroy()
    }
    await manager.close()
  })

  test('a handler that serves several calls is told of none as a redirect', async () => {
    const handler = {
      onRequestStart: () => {},
      onResponseStart: () => {},
      onResponseData: () => {},
      onResponseEnd: () => done.resolve(),
      onResponseError: (_: unknown, error: unknown) => done.reject(error),
    }
    let done = Promise.withResolvers<void>()
    const dispatcher = withTokens()
    for (const path of ['/outside', '/api/a', '/other/a']) {
      done = Promise.withResolvers<void>()
      dispatcher.dispatch({ origin: new URL(api.url).origin, path, method: 'GET' }, handler)
      await done.promise
    }
    expect(seen()).toEqual(['/outside', '/api/a with a token', '/other/a with a token'])
  })
})
