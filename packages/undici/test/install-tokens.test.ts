import { openScriptedApi, rejection, type ScriptedApi } from '@tokenlane/conformance'
import type { TokenManager } from '@tokenlane/core'
import { openService } from '@tokenlane/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { installTokens } from '../src/index.ts'

// no undici is imported at the top: it would replace the global dispatcher of Node 22

const { createManager } = await openService()
let api: ScriptedApi
let tokens: TokenManager

beforeEach(async () => {
  api = await openScriptedApi()
  tokens = createManager({ apis: [{ baseUrl: api.url, issuer: 'weblink' }] })
})
afterEach(() => Promise.all([api.close(), tokens.close()]))

const authorized = (): boolean[] => api.requests.map(({ headers }) => headers.authorization !== undefined)

test('every fetch of the process has its token, until uninstall', async () => {
  const uninstall = installTokens(tokens)
  const request = new Request(api.url, { headers: { 'x-a': 'b' } })
  expect((await fetch(request)).status).toBe(200)
  expect([...request.headers]).toEqual([['x-a', 'b']])
  uninstall()
  expect((await fetch(api.url)).status).toBe(200)
  expect(authorized()).toEqual([true, false])
})

test('installing the same manager again changes nothing, and either uninstall ends it', async () => {
  const first = installTokens(tokens)
  const second = installTokens(tokens)
  second()
  await fetch(api.url)
  first()
  expect(authorized()).toEqual([false])
})

test.each(['follow', 'manual'] as const)(
  'a long redirect whose body is not read keeps no manager open: %s',
  async (redirect) => {
    const moving = await openScriptedApi(({ url }) =>
      url === '/moved'
        ? { status: 302, headers: { location: '/there' }, body: 'x'.repeat(3_000_000) }
        : { status: 200 },
    )
    const manager = createManager({ apis: [{ baseUrl: moving.url, issuer: 'weblink' }] })
    const uninstall = installTokens(manager)
    const response = await fetch(`${moving.url}moved`, { redirect })
    expect(response.status).toBe(redirect === 'follow' ? 200 : 302)
    await manager.close()
    uninstall()
    await response.body?.cancel()
    await moving.close()
  },
)

test('two managers serve their own APIs, in whichever order they go', async () => {
  const other = await openScriptedApi()
  const manager = createManager({ apis: [{ baseUrl: other.url, issuer: 'weblink' }] })
  const uninstall = [installTokens(tokens), installTokens(manager)]
  for (const url of [api.url, other.url]) await fetch(url)
  expect([api, other].map(({ requests }) => requests[0]!.headers.authorization !== undefined)).toEqual([
    true,
    true,
  ])
  uninstall[0]!()
  for (const url of [api.url, other.url]) await fetch(url)
  uninstall[1]!()
  expect(authorized()).toEqual([true, false])
  expect(other.requests.map(({ headers }) => headers.authorization !== undefined)).toEqual([true, true])
  await Promise.all([other.close(), manager.close()])
})

test("a 401 of a fetch with a body is the caller's, and the next call has a new token", async () => {
  const rejecting = await openScriptedApi((_, number) => (number === 1 ? rejection : { status: 200 }))
  const manager = createManager({ apis: [{ baseUrl: rejecting.url, issuer: 'weblink' }] })
  const uninstall = installTokens(manager)
  const post = { method: 'POST', body: 'text' }
  expect((await fetch(rejecting.url, post)).status).toBe(401)
  expect((await fetch(rejecting.url, post)).status).toBe(200)
  uninstall()
  const [first, second] = rejecting.requests.map(({ headers }) => headers.authorization)
  expect(first).not.toBe(second)
  await Promise.all([rejecting.close(), manager.close()])
})

test.each(['undici', 'undici-8'])('%s that is imported later finds the tokens, too', async (name) => {
  const uninstall = installTokens(tokens)
  const { request, fetch } = (await import(name)) as typeof import('undici')
  expect((await request(api.url)).statusCode).toBe(200)
  expect((await fetch(api.url, { method: 'POST', body: 'text' })).status).toBe(200)
  await globalThis.fetch(api.url)
  uninstall()
  await (await request(api.url)).body.dump()
  expect(authorized()).toEqual([true, true, true, false])
})

test('a MockAgent that is the global dispatcher sees the token', async () => {
  const { MockAgent, getGlobalDispatcher, setGlobalDispatcher } = await import('undici')
  const before = getGlobalDispatcher()
  const mock = new MockAgent()
  mock.disableNetConnect()
  mock.enableNetConnect('127.0.0.1')
  const manager = createManager({ apis: [{ baseUrl: 'https://api.example.com/', issuer: 'weblink' }] })
  await manager.getToken('weblink')
  setGlobalDispatcher(mock)
  const uninstall = installTokens(manager)
  const headers = { authorization: /^Bearer ./ }
  mock.get('https://api.example.com').intercept({ path: '/', headers }).reply(200, 'mocked')
  const fetch = (await import('undici')).fetch
  expect(await (await fetch('https://api.example.com/')).text()).toBe('mocked')
  uninstall()
  setGlobalDispatcher(before)
  await manager.close()
})

test('a runtime whose fetch has no such dispatcher is refused at once', () => {
  const place = Symbol.for('undici.globalDispatcher.1')
  const globals = globalThis as unknown as Record<symbol, unknown>
  const before = globals[place]
  globals[place] = undefined
  try {
    expect(() => installTokens(tokens)).toThrow('Use `createFetch`')
  } finally {
    globals[place] = before
  }
})

test('what is not a token manager is refused at once', () => {
  expect(() => installTokens({} as never)).toThrow('`tokens` must be')
})
