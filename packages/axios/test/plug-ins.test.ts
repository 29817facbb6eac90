import { HttpService } from '@nestjs/axios'
import { openScriptedApi, rejection, type ScriptedApi } from '@tokenlane/conformance'
import { createTokenManager } from '@tokenlane/core'
import { fakeTokens } from '@tokenlane/core/testing'
import axios, { type AxiosInstance, type InternalAxiosRequestConfig } from 'axios'
import { createAuthRefresh } from 'axios-auth-refresh'
import { buildMemoryStorage, setupCache } from 'axios-cache-interceptor'
import { wrapper } from 'axios-cookiejar-support'
import AxiosMockAdapter from 'axios-mock-adapter'
import rateLimit from 'axios-rate-limit'
import axiosRetry from 'axios-retry'
import { attach as attachRax } from 'retry-axios'
import { firstValueFrom } from 'rxjs'
import { CookieJar } from 'tough-cookie'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { attachTokens } from '../src/index.ts'

/** A manager whose API has no token from now on. */
const closed = async (baseUrl: string) => {
  const tokens = createTokenManager({
    issuers: {
      main: {
        tokenEndpoint: 'https://issuer.example/token',
        credentials: { clientId: 'me', clientSecret: 'secret-of-the-client' },
        allowInsecureLoopback: true,
      },
    },
    apis: [{ baseUrl, issuer: 'main' }],
  })
  await tokens.close()
  return tokens
}

/** An API that refuses the first token. */
async function refusingOnce(): Promise<ScriptedApi> {
  const api = await openScriptedApi((_, number) =>
    number === 1
      ? { ...rejection, headers: { ...rejection.headers, 'set-cookie': 'refused=1' } }
      : { status: 200, headers: { 'set-cookie': 'taken=1' } },
  )
  onTestFinished(() => api.close())
  return api
}

/** Attaches tokens before another plug-in is added, or after. */
function inOrder(
  order: string,
  {
    tokens,
    plugIn,
  }: { tokens: Parameters<typeof attachTokens>[1]; plugIn: (client: AxiosInstance) => unknown },
): AxiosInstance {
  const client = axios.create({ proxy: false })
  if (order === 'after') attachTokens(client, tokens)
  const plugged = (plugIn(client) ?? client) as AxiosInstance
  if (order === 'before') attachTokens(plugged, tokens)
  return plugged
}

// the table of plug-ins in the README, line by line
describe.each(['before', 'after'])('added %s the tokens', (order) => {
  test('retry-axios retries a 503, and not what Tokenlane refuses', async () => {
    const onRetryAttempt = vi.fn(async () => {})
    const plugIn = (client: AxiosInstance): void => {
      client.defaults.raxConfig = {
        retry: 2,

        retryDelay: 1,
        backoffType: 'static',
        onRetryAttempt,
      }
      attachRax(client)
    }
    const api = await openScriptedApi((_, number) => ({ status: number === 1 ? 503 : 200 }))
    onTestFinished(() => api.close())
    const tokens = fakeTokens({ apis: [api.url] })
    expect((await inOrder(order, { tokens, plugIn }).get(api.url)).status).toBe(200)
    expect([api.requests.length, onRetryAttempt.mock.calls.length]).toEqual([2, 1])
    const refusing = inOrder(order, { tokens: await closed('https://api.example/'), plugIn })
    await expect(refusing.get('https://api.example/x')).rejects.toMatchObject({ code: 'MANAGER_CLOSED' })
    expect(onRetryAttempt).toHaveBeenCalledOnce()
  })

  test('axios-rate-limit counts a call once, though it is sent twice', async () => {
    const api = await refusingOnce()
    const plugIn = (client: AxiosInstance) => rateLimit(client, { maxRequests: 1, perMilliseconds: 60_000 })
    const client = inOrder(order, { tokens: fakeTokens({ apis: [api.url] }), plugIn })
    expect((await client.get(api.url)).status).toBe(200)
    expect(api.requests).toHaveLength(2)
  })

  test('axios-auth-refresh has nothing to do', async () => {
    const api = await refusingOnce()
    const renew = vi.fn(async () => {})
    const plugIn = (client: AxiosInstance): void => void createAuthRefresh(client as never, renew)
    const client = inOrder(order, { tokens: fakeTokens({ apis: [api.url] }), plugIn })
    expect((await client.get(api.url)).status).toBe(200)
    expect(renew).not.toHaveBeenCalled()
  })

  test('axios-cookiejar-support gets the cookies of the 401 too', async () => {
    const api = await refusingOnce()
    const jar = new CookieJar()
    const plugIn = (client: AxiosInstance) => wrapper(client as never) as unknown
    const client = inOrder(order, { tokens: fakeTokens({ apis: [api.url] }), plugIn })
    await client.get(api.url, { jar } as object)
    expect(await jar.getCookieString(api.url)).toBe('refused=1; taken=1')
  })
})

describe('axios-cache-interceptor', () => {
  // arthurfiorette/axios-cache-interceptor#433
  test('a call that gets no token fails, and so does each later one: none waits for it', async () => {
    const client = axios.create({ baseURL: 'https://api.example/' })
    setupCache(client)
    attachTokens(client, await closed('https://api.example/'))
    for (const _ of [1, 2])
      await expect(client.get('records')).rejects.toMatchObject({ code: 'MANAGER_CLOSED' })
  })

  test('with staleIfError, a call that gets no token gets the stale response', async () => {
    let now = 1_000_000
    vi.spyOn(Date, 'now').mockImplementation(() => now)
    onTestFinished(() => void vi.restoreAllMocks())
    const api = await openScriptedApi(() => ({
      status: 200,
      headers: { 'cache-control': 'max-age=1', etag: 'a' },
      body: 'old',
    }))
    onTestFinished(() => api.close())
    const client = axios.create({ proxy: false })
    setupCache(client, { staleIfError: true, interpretHeader: true })
    expect((await client.get(api.url)).data).toBe('old')
    now += 10_000
    attachTokens(client, await closed(api.url))
    expect((await client.get(api.url)).data).toBe('old')
    expect(api.requests).toHaveLength(1)
  })

  test('added before the tokens, it answers without a token and a turn, and holds no token', async () => {
    const api = await openScriptedApi(() => ({ status: 200, headers: { 'cache-control': 'max-age=60' } }))
    onTestFinished(() => api.close())
    const tokens = fakeTokens({ apis: [api.url] })
    const client = axios.create({ proxy: false })
    const storage = buildMemoryStorage()
    setupCache(client, { storage })
    attachTokens(client, tokens)
    await Promise.all([client.get(api.url), client.get(api.url)])
    await client.get(api.url)
    expect([api.requests.length, tokens.counts().sends]).toEqual([1, 1])
    expect(JSON.stringify(storage.data)).not.toContain('Bearer')
  })
})

describe('axios-retry', () => {
  test.each(['before', 'after'])(
    'added %s the tokens, it does not retry what Tokenlane refuses',
    async (order) => {
      const onRetry = vi.fn<() => void>()
      const client = axios.create()
      const retry = (): void => axiosRetry(client, { retries: 3, onRetry }) as never
      if (order === 'before') retry()
      attachTokens(client, await closed('https://api.example/'))
      if (order === 'after') retry()
      await expect(client.get('https://api.example/x')).rejects.toMatchObject({ code: 'MANAGER_CLOSED' })
      expect(onRetry).not.toHaveBeenCalled()
    },
  )
})

describe('axios-mock-adapter', () => {
  // ctimmerm/axios-mock-adapter#268
  test.each(['before', 'after'])(
    'added %s the tokens, its replies come, and a 401 of it renews',
    async (order) => {
      const tokens = fakeTokens({ apis: ['https://api.example/'] })
      const client = axios.create()
      if (order === 'before') attachTokens(client, tokens)
      const mock = new AxiosMockAdapter(client as never)
      if (order === 'after') attachTokens(client, tokens)
      mock.onGet('https://api.example/x').replyOnce(401).onGet('https://api.example/x').reply(200, { id: 7 })
      expect((await client.get('https://api.example/x')).data).toEqual({ id: 7 })
      expect(mock.history['get']).toHaveLength(2)
    },
  )
})

describe('@nestjs/axios', () => {
  const attached = (tokens: Parameters<typeof attachTokens>[1]): HttpService => {
    const http = new HttpService(axios.create({ proxy: false }))
    attachTokens(http.axiosRef, tokens)
    return http
  }

  test('renews a token that was refused, and its errors are those of axios', async () => {
    const api = await openScriptedApi((_, number) =>
      number === 1 ? rejection : { status: number === 2 ? 200 : 404 },
    )
    onTestFinished(() => api.close())
    const http = attached(fakeTokens({ apis: [api.url] }))
    expect((await firstValueFrom(http.get(api.url))).status).toBe(200)
    const error: unknown = await firstValueFrom(http.get(api.url)).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(axios.AxiosError)
    expect(error).toMatchObject({ response: { status: 404 }, config: { url: api.url } })
  })

  // an exception filter asks `isAxiosError`, and reads the response and the config
  test('a call that gets no token fails with an error that exception filters take for one of axios', async () => {
    const http = attached(await closed('https://api.example/'))
    const call = firstValueFrom(http.get('https://api.example/x'))
    const error: unknown = await call.catch((reason: unknown) => reason)
    expect(axios.isAxiosError(error)).toBe(true)
    expect(error).toMatchObject({ code: 'MANAGER_CLOSED', config: { url: 'https://api.example/x' } })
  })
})

// axios/axios#5894, knee-cola/jest-mock-axios#23
test('an axios that a test has replaced by some functions is served, since nothing is read before a call', () => {
  const stub = { interceptors: { request: { use: () => 0 } }, getUri: () => '' }
  expect(attachTokens(stub as never, fakeTokens({ apis: ['https://api.example/'] }))).toBeTypeOf('function')
})

test('an interceptor and the defaults can set `tokenlane`', async () => {
  const tokens = fakeTokens({ apis: ['https://api.example/'] })
  const client: AxiosInstance = axios.create({
    adapter: async (config) => ({ data: '', status: 200, statusText: '', headers: {}, config }),
  })
  client.defaults.tokenlane = { priority: 1 }
  attachTokens(client, tokens)
  client.interceptors.request.use((config: InternalAxiosRequestConfig) => {
    config.tokenlane = { ...config.tokenlane, resend: false }
    return config
  })
  const { config } = await client.get('https://api.example/x')
  expect(config.tokenlane).toEqual({ priority: 1, resend: false })
})

test('an instance whose `create` gives every new one its tokens sends a call once', async () => {
  const api = await openScriptedApi()
  onTestFinished(() => api.close())
  const tokens = fakeTokens({ apis: [api.url] })
  const client = axios.create({ proxy: false })
  const { create } = client
  client.create = (defaults) => {
    const made = create(defaults)
    attachTokens(made, tokens)
    return made
  }
  attachTokens(client, tokens)
  expect((await client.get(api.url)).status).toBe(200)
  expect([api.requests.length, tokens.counts().sends]).toEqual([1, 1])
})
