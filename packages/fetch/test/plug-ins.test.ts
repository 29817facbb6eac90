import { openScriptedApi, rejection, type ScriptedApi } from '@tokenlane/conformance'
import { isTokenlaneError } from '@tokenlane/core'
import { fakeTokens } from '@tokenlane/core/testing'
import { openService } from '@tokenlane/testing'
import fetchCookie from 'fetch-cookie'
import fetchRetry from 'fetch-retry'
import { ofetch } from 'ofetch'
import OpenAI from 'openai'
import createClient from 'openapi-fetch'
import { CookieJar } from 'tough-cookie'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { createFetch } from '../src/index.ts'

// the table of plug-ins in the README, line by line
const { createManager, weblink } = await openService()

/** An API that refuses the first token. */
async function refusingOnce(): Promise<ScriptedApi> {
  const api = await openScriptedApi((_, number) =>
    number === 1
      ? { ...rejection, headers: { ...rejection.headers, 'set-cookie': 'refused=1' } }
      : { status: 200, headers: { 'set-cookie': 'taken=1', 'content-type': 'application/json' }, body: '{}' },
  )
  onTestFinished(() => api.close())
  return api
}

describe('the OpenAI SDK', () => {
  const options = { apiKey: '-', defaultHeaders: { Authorization: null } }

  test('whose `Authorization` is null gets the token, and its own key does not go', async () => {
    const api = await refusingOnce()
    const fetch = createFetch(fakeTokens({ apis: [api.url] }))
    await new OpenAI({ ...options, fetch, baseURL: api.url }).models.list()
    await new OpenAI({ fetch, apiKey: '-', baseURL: api.url }).models.list()
    const sent = api.requests.map((request) => request.headers.authorization)
    const token = expect.stringMatching(/^Bearer ..+/) as string
    expect(sent).toEqual([token, token, 'Bearer -'])
  })

  test('retries a call without a token', async () => {
    const tokens = createManager()
    await tokens.close()
    const fetch = vi.fn(createFetch(tokens))
    const client = new OpenAI({ ...options, fetch, baseURL: weblink(''), maxRetries: 1 })
    await expect(client.models.list()).rejects.toMatchObject({ cause: { code: 'MANAGER_CLOSED' } })
    expect(fetch).toHaveBeenCalledTimes(2)
  })
})

test("openapi-fetch's middleware sees neither the token nor the first 401", async () => {
  const api = await refusingOnce()
  const client = createClient<{
    '/': { get: { responses: { 200: { content: { 'application/json': object } } } } }
  }>({
    baseUrl: api.url,
    fetch: createFetch(fakeTokens({ apis: [api.url] })),
  })
  const seen: unknown[] = []
  client.use({
    onRequest: ({ request }) => void seen.push(request.headers.get('authorization')),
    onResponse: ({ response }) => void seen.push(response.status),
  })
  await client.GET('/')
  expect([seen, api.requests.length]).toEqual([[null, 200], 2])
})

test("ofetch's retries come on top", async () => {
  const api = await openScriptedApi((_, number) =>
    number % 2 === 1 ? rejection : { status: number === 2 ? 503 : 200 },
  )
  onTestFinished(() => api.close())
  const managed = ofetch.create({}, { fetch: createFetch(fakeTokens({ apis: [api.url] })) })
  await managed(api.url, { retry: 1, retryDelay: 0 })
  expect(api.requests).toHaveLength(4)
})

test.each([
  ['retries what Tokenlane refuses', undefined, 3],
  [
    'leaves it where `retryOn` says so',
    (tries: number, error: Error | null) => tries < 2 && error !== null && !isTokenlaneError(error),
    1,
  ],
])('fetch-retry %s', async (_, retryOn, times) => {
  const tokens = createManager()
  await tokens.close()
  const managed = vi.fn(createFetch(tokens))
  const retrying = fetchRetry(managed, { retries: 2, retryDelay: 0, ...(retryOn && { retryOn }) })
  await expect(retrying(weblink('records'))).rejects.toMatchObject({ code: 'MANAGER_CLOSED' })
  expect(managed).toHaveBeenCalledTimes(times)
})

test.each([
  ['inside gets the cookies of every attempt', true, 'refused=1; taken=1'],
  ['around gets those of the last', false, 'taken=1'],
])('fetch-cookie %s', async (_, isInside, cookies) => {
  const api = await refusingOnce()
  const jar = new CookieJar()
  const tokens = fakeTokens({ apis: [api.url] })
  const managed = isInside
    ? createFetch(tokens, { fetch: fetchCookie(fetch, jar) as never })
    : fetchCookie(createFetch(tokens), jar)
  await managed(api.url)
  expect(await jar.getCookieString(api.url)).toBe(cookies)
})
