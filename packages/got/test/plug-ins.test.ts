import { openScriptedApi, rejection, type ScriptedApi } from '@tokenlane/conformance'
import { fakeTokens } from '@tokenlane/core/testing'
import got, { type Response } from 'got'
import { CookieJar } from 'tough-cookie'
import { expect, onTestFinished, test, vi } from 'vitest'

import { gotTokens } from '../src/index.ts'

// what the table of plug-ins in the README says, beside rejection.test.ts

type Script = Parameters<typeof openScriptedApi>[0]

async function open(script?: Script) {
  const api: ScriptedApi = await openScriptedApi(script)
  onTestFinished(() => api.close())
  const tokens = fakeTokens({ apis: [api.url] })
  return { api, tokens, client: got.extend(gotTokens(tokens)) }
}

test('with 401 in `statusCodes` and two retries, one call sends six requests', async () => {
  const { api, client } = await open(() => rejection)
  const calculateDelay = ({ computedValue }: { computedValue: number }): number => Math.min(computedValue, 1)
  const retry = { limit: 2, statusCodes: [401], calculateDelay }
  await expect(client(api.url, { retry })).rejects.toMatchObject({ name: 'HTTPError' })
  expect(api.requests).toHaveLength(6)
})

test.each([
  ['that are `public`', 'public, max-age=60', undefined],
  ['that are not, with `shared: false`', 'max-age=60', { shared: false }],
])('`cache` keeps responses %s, and a cached call counts', async (_, control, cacheOptions) => {
  const { api, tokens, client } = await open(() => ({ status: 200, headers: { 'cache-control': control } }))
  const options = { cache: new Map(), ...(cacheOptions && { cacheOptions }) }
  await client(api.url, options)
  await client(api.url, options)
  expect([api.requests.length, tokens.counts().calls]).toEqual([1, 2])
})

test('`cache` keeps no other response', async () => {
  const { api, client } = await open(() => ({ status: 200, headers: { 'cache-control': 'max-age=60' } }))
  const cache = new Map()
  await client(api.url, { cache })
  await client(api.url, { cache })
  expect(api.requests).toHaveLength(2)
})

test('a cookie jar gets the cookies of the 401 too', async () => {
  const { api, client } = await open((_, number) => {
    const { status, headers } = number === 1 ? rejection : { status: 200, headers: {} }
    return { status, headers: { ...headers, 'set-cookie': `number=${number}; Path=/${number}` } }
  })
  const cookieJar = new CookieJar()
  await client(api.url, { cookieJar })
  expect((await cookieJar.serialize()).cookies.map(({ value }) => value)).toEqual(['1', '2'])
})

test('a renewal of the own only sees a second 401', async () => {
  const { api, client } = await open((_, number) => (number === 1 ? rejection : { status: 200 }))
  const renew = vi.fn<() => void>()
  const afterResponse = (response: Response, again: (options: object) => never): Response => {
    if (response.statusCode !== 401) return response
    renew()
    return again({ headers: { authorization: 'Bearer mine' } })
  }
  expect((await client(api.url, { hooks: { afterResponse: [afterResponse] } })).statusCode).toBe(200)
  expect([renew.mock.calls.length, api.requests.length]).toEqual([0, 2])
})

test('each page of `paginate` is a call', async () => {
  const { api, tokens, client } = await open(({ url }) => ({
    status: 200,
    headers: url === '/' ? { link: '</2>; rel="next"' } : {},
    body: '[1]',
  }))
  expect(await client.paginate.all(api.url)).toEqual([1, 1])
  expect(tokens.counts()).toEqual({ calls: 2, sends: 2, queued: 0 })
})
