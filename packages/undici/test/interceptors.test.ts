import { openScriptedApi, rejection, type ScriptedApi, type ScriptedResponse } from '@tokenlane/conformance'
import { fakeTokens } from '@tokenlane/core/testing'
import * as undici7 from 'undici'
import * as undici8 from 'undici-8'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { installTokens, tokensInterceptor } from '../src/index.ts'

// their types do not fit each other
const versions = [
  { version: 7, undici: undici7 },
  { version: 8, undici: undici8 as unknown as typeof undici7 },
]

let api: ScriptedApi
let answers: Record<string, (number: number) => ScriptedResponse>

beforeEach(async () => {
  answers = {}
  api = await openScriptedApi(({ url }, number) => answers[url]?.(number) ?? { status: 200, body: 'ok' })
})
afterEach(() => api.close())

const tokensFor = (...paths: string[]) => fakeTokens({ apis: paths.map((path) => api.url + path) })

/** Returns the path of each request, and whether it had a token. */
const seen = (): string[] =>
  api.requests.map(({ url, headers }) => (headers.authorization === undefined ? url : `${url} with a token`))

const moved = (location: string) => (): ScriptedResponse => ({
  status: 307,
  headers: { location, 'content-length': '0' },
})

/** What may stand before or after ours without a difference. */
const others = ['responseError', 'decompress', 'dump', 'deduplicate', 'dns', 'retry'] as const

describe.each(versions)('undici $version', ({ undici }) => {
  const interceptors = undici.interceptors as unknown as Record<
    string,
    (options?: object) => undici7.Dispatcher.DispatcherComposeInterceptor
  >
  const { Agent, request } = undici

  async function get(dispatcher: undici7.Dispatcher, path: string): Promise<number> {
    const { statusCode, body } = await request(api.url + path, { dispatcher })
    await body.dump()
    return statusCode
  }

  // the older ones have fewer
  describe.each(others.filter((name) => name in interceptors))('%s', (name) => {
    test.each(['before', 'after'])('%s ours: a token that was refused is renewed', async (place) => {
      answers['/api/a'] = (number) => (number === 1 ? rejection : { status: 200, body: 'ok' })
      const [other, ours] = [interceptors[name]!(), tokensInterceptor(tokensFor('api/'))]
      const dispatcher = new Agent().compose(...(place === 'before' ? [other, ours] : [ours, other]))
      expect(await get(dispatcher, 'api/a')).toBe(200)
      expect(seen()).toEqual(['/api/a with a token', '/api/a with a token'])
    })

    test('between ours and redirect: the token goes along within its API, and to no other', async () => {
      answers['/api/in'] = moved('/api/there')
      answers['/api/out'] = moved('/other/a')
      answers['/outside'] = moved('/api/b')
      const dispatcher = new Agent().compose(
        tokensInterceptor(tokensFor('api/', 'other/')),
        interceptors[name]!(),
        interceptors['redirect']!({ maxRedirections: 5 }),
      )
      for (const path of ['api/in', 'api/out', 'outside']) expect(await get(dispatcher, path)).toBe(200)
      expect(seen()).toEqual([
        '/api/in with a token',
        '/api/there with a token',
        '/api/out with a token',
        '/other/a',
        '/outside',
        '/api/b',
      ])
    })
  })

  test('responseError before ours: a 401 that stays is the error that it makes', async () => {
    answers['/api/a'] = () => rejection
    const ours = tokensInterceptor(tokensFor('api/'))
    const dispatcher = new Agent().compose(interceptors['responseError']!(), ours)
    await expect(get(dispatcher, 'api/a')).rejects.toMatchObject({
      code: 'UND_ERR_RESPONSE',
      statusCode: 401,
    })
  })

  test('retry before ours sends the same token again, and takes no unit', async () => {
    answers['/api/a'] = (number) => ({ status: number === 1 ? 503 : 200 })
    const tokens = tokensFor('api/')
    const retry = interceptors['retry']!({ maxRetries: 1, minTimeout: 1 })
    expect(await get(new Agent().compose(retry, tokensInterceptor(tokens)), 'api/a')).toBe(200)
    const [first, second] = api.requests.map(({ headers }) => headers.authorization)
    expect([second, tokens.counts().sends]).toEqual([first, 1])
  })

  test('cache after ours stores a response that is not public', async () => {
    answers['/api/a'] = () => ({ status: 200, headers: { 'cache-control': 'max-age=60' }, body: 'kept' })
    const dispatcher = new Agent().compose(tokensInterceptor(tokensFor('api/')), interceptors['cache']!())
    for (const _ of [1, 2]) expect(await get(dispatcher, 'api/a')).toBe(200)
    expect(seen()).toEqual(['/api/a with a token'])
  })

  test('dns after ours replaces the host name, so that a call has no token', async () => {
    const { port } = new URL(api.url)
    const tokens = fakeTokens({ apis: [`http://api.test:${port}/`] })
    const lookup = (_: unknown, __: unknown, done: (error: null, records: object[]) => void): void =>
      done(null, [{ address: '127.0.0.1', family: 4, ttl: 1_000 }])
    const [dns, ours] = [interceptors['dns']!({ lookup }), tokensInterceptor(tokens)]
    for (const order of [
      [dns, ours],
      [ours, dns],
    ])
      await (
        await request(`http://api.test:${port}/a`, { dispatcher: new Agent().compose(...order) })
      ).body.dump()
    expect(seen()).toEqual(['/a with a token', '/a'])
  })

  test('dump before ours makes an error of a 401 that is longer than its `maxSize`', async () => {
    answers['/api/a'] = () => ({
      ...rejection,
      headers: { ...rejection.headers, 'content-length': '100' },
      body: 'x'.repeat(100),
    })
    const dump = interceptors['dump']!({ maxSize: 10 })
    await expect(
      get(new Agent().compose(dump, tokensInterceptor(tokensFor('api/'))), 'api/a'),
    ).rejects.toThrow('Response size (100) larger than maxSize (10)')
    expect(api.requests).toHaveLength(1)
  })

  test('redirect before ours is found out before anything is sent', async () => {
    const redirect = interceptors['redirect']!({ maxRedirections: 5 })
    const dispatcher = new Agent().compose(redirect, tokensInterceptor(tokensFor('api/')))
    await expect(get(dispatcher, 'api/a')).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      message: expect.stringContaining("undici's `redirect` is listed before `tokensInterceptor`"),
    })
    expect(api.requests).toEqual([])
    // one that follows nothing is in nobody's way
    const idle = new Agent().compose(interceptors['redirect']!(), tokensInterceptor(tokensFor('api/')))
    expect(await get(idle, 'api/a')).toBe(200)
  })

  test('two of ours, of two managers, with redirect: a hop into the other API is bare', async () => {
    answers['/api/out'] = moved('/other/a')
    answers['/other/out'] = moved('/api/a')
    const dispatcher = new Agent().compose(
      tokensInterceptor(tokensFor('api/')),
      tokensInterceptor(tokensFor('other/')),
      interceptors['redirect']!({ maxRedirections: 5 }),
    )
    for (const path of ['api/out', 'other/out']) await get(dispatcher, path)
    expect(seen()).toEqual(['/api/out with a token', '/other/a', '/other/out with a token', '/api/a'])
  })
})

test('the old place of installTokens says where it is', () => {
  expect(() => installTokens()).toThrow("import it from '@tokenlane/fetch'")
})
