import { openScriptedApi, rejection } from '@tokenlane/conformance'
import { fakeTokens } from '@tokenlane/core/testing'
import { createFetch } from '@tokenlane/fetch'
import fetchCookie from 'fetch-cookie'
import ky from 'ky'
import { CookieJar } from 'tough-cookie'
import { expect, onTestFinished, test, vi } from 'vitest'

import { kyTokens } from '../src/index.ts'

// what the table of plug-ins in the README says, beside hooks.test.ts and retries.test.ts

test('with 401 in `statusCodes` and two retries, one call sends six requests', async () => {
  const api = await openScriptedApi(() => rejection)
  onTestFinished(() => api.close())
  const retry = { limit: 2, statusCodes: [401], delay: () => 0 }
  const client = ky.extend(kyTokens(fakeTokens({ apis: [api.url] }))).extend({ retry })
  expect((await client.get(api.url, { throwHttpErrors: false })).status).toBe(401)
  expect(api.requests).toHaveLength(2)
  await expect(client.get(api.url)).rejects.toMatchObject({ name: 'HTTPError' })
  expect(api.requests).toHaveLength(8)
})

test('an `afterResponse` hook that asks for a retry at a 401 only sees a second one', async () => {
  const api = await openScriptedApi((_, number) => (number === 1 ? rejection : { status: 200 }))
  onTestFinished(() => api.close())
  const renew = vi.fn(({ response }: { response: Response }) =>
    response.status === 401 ? ky.retry() : undefined,
  )
  const client = ky
    .extend({ hooks: { afterResponse: [renew] } })
    .extend(kyTokens(fakeTokens({ apis: [api.url] })))
  expect((await client.get(api.url)).status).toBe(200)
  expect([renew.mock.calls.length, api.requests.length]).toEqual([1, 2])
})

test('`createFetch` as `fetch` does no harm: a call waits and is sent once', async () => {
  const api = await openScriptedApi()
  onTestFinished(() => api.close())
  const tokens = fakeTokens({ apis: [api.url] })
  const client = ky.create({ fetch: createFetch(tokens) }).extend(kyTokens(tokens))
  expect((await client.get(api.url)).status).toBe(200)
  expect(tokens.counts()).toEqual({ calls: 1, sends: 1, queued: 0 })
})

test('fetch-cookie as `fetch` gets the cookies of every attempt, and brings them along', async () => {
  const api = await openScriptedApi((_, number) => {
    const { status, headers } = number === 1 ? rejection : { status: 200, headers: {} }
    return { status, headers: { ...headers, 'set-cookie': `number${number}=yes` } }
  })
  onTestFinished(() => api.close())
  const jar = new CookieJar()
  const client = ky.create({ fetch: fetchCookie(fetch, jar) as typeof fetch })
  await client.extend(kyTokens(fakeTokens({ apis: [api.url] }))).get(api.url)
  expect(await jar.getCookieString(api.url)).toBe('number1=yes; number2=yes')
  expect(api.requests.map(({ headers }) => headers.cookie)).toEqual([undefined, 'number1=yes'])
})
