import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo } from 'node:net'
import { inspect } from 'node:util'

import { HTTPError, type Hooks, type Options } from 'ky'
import { describe, expect, test, vi } from 'vitest'

import {
  sandbox,
  weblink,
  outside,
  redirect,
  calls,
  tokenRequests,
  tokens,
  client,
  bare,
  type Fetch,
  admitted,
  failure,
  answering,
  useService,
} from './support.ts'

await useService()

describe('the token', () => {
  test('goes with a call to an API, however its URL is given', async () => {
    const url = weblink('records?page=1')
    for (const input of [url, new URL(url), new Request(url)]) expect((await client(input)).status).toBe(200)
    for (const options of [{ prefix: sandbox.weblinkUrl }, { baseUrl: sandbox.weblinkUrl }])
      expect((await client('records', { ...options, searchParams: { page: 2 } })).status).toBe(200)
    expect((await client(`${sandbox.apiUrl}records`)).status).toBe(200)
    expect(tokenRequests()).toBe(1)
  })

  test('does not go with a call that brings its own Authorization, which does not wait', async () => {
    const Authorization = 'Bearer mine'
    const setsIt: Hooks = {
      beforeRequest: [({ request }) => request.headers.set('Authorization', Authorization)],
    }
    for (const options of [{ headers: { Authorization } }, { hooks: setsIt }]) {
      const { seen, fetch } = answering()
      await client(weblink('records'), { ...options, fetch })
      expect(seen).toEqual([Authorization])
    }
    expect([admitted(), tokenRequests()]).toEqual([0, 0])
  })

  test('is not known: nothing is sent, and ky does not try again', async () => {
    sandbox.control.failIssuer('weblink', { status: 400, body: { error: 'invalid_client' } })
    const call = client(weblink('records'), { retry: 2 })
    await expect(call).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
    expect([calls(), tokenRequests()]).toEqual([0, 1])
  })

  test('is on nothing that the caller gets', async () => {
    const { value } = await tokens.getToken('weblink')
    const kept: unknown[] = []
    const hooks: Hooks = {
      beforeRequest: [(state) => void kept.push(state)],
      beforeRetry: [(state) => void kept.push(state)],
      beforeError: [(state) => (kept.push(state), state.error)],
      afterResponse: [(state) => void kept.push(state)],
    }
    const options: Options = { hooks, retry: { limit: 1, delay: () => 1 } }
    kept.push(await client(weblink('records'), options), options)
    const error = await failure(client(weblink('status/503'), options))
    expect(error).toBeInstanceOf(HTTPError)
    kept.push(await failure(client(redirect('ftp://127.0.0.1/'), options)))
    expect(kept).toHaveLength(13)
    for (const each of kept) {
      expect(inspect(each, { depth: 12, showHidden: true, getters: true })).not.toContain(value)
      expect(JSON.stringify(each)).not.toContain(value)
    }
  })
})

describe('a URL outside every API', () => {
  test('sees the same request as without Tokenlane', async () => {
    const seen: unknown[] = []
    const server = createServer((request, response) => {
      seen.push([request.method, request.url, request.rawHeaders])
      response.end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a?b=c%20d`
    const options = { json: { x: 1 }, headers: { 'X-Some': 'Thing' }, searchParams: { e: 'f' } }
    await bare.put(url, options)
    await client.put(url, options)
    expect(seen[1]).toEqual(seen[0])
    server.close()
    server.closeAllConnections()
  })

  test("goes to the caller's fetch with the same objects", async () => {
    const fetch = vi.fn<Fetch>(async () => new Response())
    const dispatcher = {}
    await client(outside(), { fetch, dispatcher } as unknown as Options)
    expect(fetch.mock.lastCall?.[0]).toBeInstanceOf(Request)
    expect(fetch.mock.lastCall?.[1]).toEqual({ dispatcher })
  })
})
