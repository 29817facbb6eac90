import { Agent as HttpAgent } from 'node:http'
import { Agent } from 'node:https'
import type { Readable } from 'node:stream'

import type { TokenlaneEvent, TokenManager } from '@tokenlane/core'
import { openScriptedApi, rejection } from '@tokenlane/conformance'
import { printed } from '@tokenlane/conformance/every-error'
import { openService } from '@tokenlane/testing'
import axios, {
  AxiosError,
  type AxiosInstance,
  type AxiosResponse,
  type InternalAxiosRequestConfig,
} from 'axios'
import axiosRetry from 'axios-retry'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'

import { attachTokens } from '../src/index.ts'

const { sandbox, createManager, outside, calls, tokenRequests, revoke } = await openService()
const httpsAgent = new Agent({ ca: sandbox.ca, keepAlive: true })
afterAll(() => httpsAgent.destroy())

let tokens: TokenManager
let client: AxiosInstance
let detach: () => void

beforeEach(() => {
  tokens = createManager()
  client = axios.create({ baseURL: sandbox.weblinkUrl, httpsAgent, validateStatus: () => true })
  detach = attachTokens(client, tokens)
})

const strict = { validateStatus: (status: number) => status < 300 }
const failure = (call: Promise<unknown>): Promise<AxiosError> =>
  call.then(
    () => expect.fail('the call succeeded'),
    (error: unknown) => error as AxiosError,
  )

describe('the token', () => {
  test('goes with a call of the fetch adapter', async () => {
    expect((await client.get('records', { adapter: 'fetch' })).status).toBe(200)
  })

  test('does not go with a call that brings auth of its own', async () => {
    expect((await client.get('records', { auth: { username: 'a', password: 'b' } })).status).toBe(401)
    expect([calls(), tokenRequests()]).toEqual([1, 0])
  })

  test('of a call under way is not printed with an error of another call, which leads to it by their agent', async () => {
    const { value } = await tokens.getToken('weblink')
    const leaving = new AbortController()
    const underWay = client.get('slow?ms=60000', { signal: leaving.signal })
    await vi.waitFor(() => expect(calls()).toBe(1))
    const error = await failure(client.get('status/503', strict))
    expect(printed([error, error.config, error.toJSON()])).not.toContain(value)
    leaving.abort()
    await failure(underWay)
  })

  test('is not printed with an agent that connects, nor with the error of a call that nobody serves', async () => {
    const httpAgent = new HttpAgent({ keepAlive: true })
    const local = axios.create({ httpAgent })
    const baseUrl = 'http://localhost:9/'
    const manager = createManager({ apis: [{ baseUrl, issuer: 'weblink' }] })
    attachTokens(local, manager)
    const { value } = await manager.getToken('weblink')
    const leaving = new AbortController()
    const lookup = vi.fn<() => void>()
    const connecting = local.get(baseUrl, { lookup: lookup as never, signal: leaving.signal })
    await vi.waitFor(() => expect(lookup).toHaveBeenCalled())
    expect(printed(httpAgent)).not.toContain(value)
    const refused = await failure(local.get(baseUrl))
    expect(printed([refused, refused.request, refused.toJSON()])).not.toContain(value)
    leaving.abort()
    const aborted = await failure(connecting)
    expect(printed([aborted, aborted.request, aborted.toJSON()])).not.toContain(value)
  })

  test.each(['http', 'fetch'])('is printed of nothing that the %s adapter leaves', async (adapter) => {
    const { value } = await tokens.getToken('weblink')
    for (const responseType of ['json', 'stream'] as const) {
      const options = { adapter, responseType }
      const response = await client.get('records', options)
      const error = await failure(client.get('status/503', { ...options, ...strict }))
      expect(error).toBeInstanceOf(AxiosError)
      const left = [response, error, error.response, response.request, error.request, error.toJSON()]
      expect(printed(left)).not.toContain(value)
      for (const { data } of [response, error.response ?? response]) data?.destroy?.()
    }
    const aborted = await failure(client.get('slow?ms=60000', { adapter, timeout: 50 }))
    expect(printed([aborted, aborted.request])).not.toContain(value)
    const transformResponse = [() => expect.fail('not as expected')]
    const unread = await failure(client.get('records', { adapter, transformResponse }))
    expect(printed(Object.assign(unread, { response: await client.get('records') }))).not.toContain(value)
  })

  test("leaves the caller's agents as they are", async () => {
    const before = Reflect.ownKeys(httpsAgent)
    const { request } = await client.get('records')
    expect(Reflect.ownKeys(httpsAgent)).toEqual(before)
    expect(request.agent).toBeInstanceOf(Agent)
    expect(Object.keys(httpsAgent.freeSockets)).toHaveLength(1)
  })
})

test.each([undefined, null])(
  'header fields of any name and value arrive as with axios alone, and an `Authorization` of %s is none',
  async (AUTHORIZATION) => {
    const api = await openScriptedApi()
    const odd = {
      'x-LIST': ['1', '2'],
      'X-Line': 'a\r\nb',
      'x-left-out': null,
      'User-Agent': false,
      get: 'get',
      Set: 'set',
      constructor: 'c',
      ['__proto__']: 'p',
      AUTHORIZATION,
    }
    const alone = axios.create()
    const managed = axios.create()
    attachTokens(managed, createManager({ apis: [{ baseUrl: api.url, issuer: 'weblink' }] }))
    for (const instance of [alone, managed]) {
      instance.interceptors.request.use((config) => {
        config.headers['x-later'] = 'c\r\nd'
        return config
      })
      await instance.get(api.url, { headers: odd as never })
    }
    const [withAxios, withToken] = api.requests.map(({ headers }) => headers)
    const { authorization, ...others } = withToken ?? {}
    expect(authorization).toMatch(/^Bearer ./)
    expect(others).toEqual(withAxios)
    await api.close()
  },
)

test('a response of an adapter of the application is the very object', async () => {
  const own = { data: '', status: 200, statusText: '', headers: {}, request: {} }
  const adapter = async (config: InternalAxiosRequestConfig): Promise<AxiosResponse> =>
    Object.assign(own, { config })
  expect(await client.get('records', { adapter })).toBe(own)
})

test('an adapter around another one, which hands on a copy of the config, shows no token', async () => {
  const { value } = await tokens.getToken('weblink')
  const adapter = (config: InternalAxiosRequestConfig): Promise<AxiosResponse> =>
    axios.getAdapter('http')({ ...config, timeout: 60_000 })
  const response = await client.get('records', { adapter })
  const error = await failure(client.get('status/503', { adapter, ...strict }))
  expect([response.status, response.config.timeout, error.config?.timeout]).toEqual([200, 60_000, 60_000])
  expect(printed([response, error])).not.toContain(value)
})

describe('a 401', () => {
  test.each([{}, strict, { responseType: 'stream' as const }])(
    'renews once and sends once more, whatever validateStatus says: %o',
    async (options) => {
      await revoke(tokens)
      const response = await client.get('records', options)
      expect([response.status, calls(), tokenRequests()]).toEqual([200, 2, 1])
      response.data?.destroy?.()
    },
  )

  test.each([1_000, 1_000_000])(
    'with a streamed body of %i bytes frees the only connection',
    async (size) => {
      const api = await openScriptedApi((_, number) =>
        number === 1 ? { ...rejection, body: 'x'.repeat(size) } : { status: 200, body: 'whole' },
      )
      const single = axios.create({ httpAgent: new HttpAgent({ keepAlive: true, maxSockets: 1 }) })
      attachTokens(single, createManager({ apis: [{ baseUrl: api.url, issuer: 'weblink' }] }))
      const { data } = await single.get<Readable>(api.url, { responseType: 'stream' })
      expect(Buffer.concat(await data.toArray()).toString()).toBe('whole')
      await api.close()
    },
  )
})

test('a cancelToken ends the wait with a CanceledError, and nothing is sent', async () => {
  sandbox.control.slowIssuer('weblink', 60_000)
  const source = axios.CancelToken.source()
  const call = failure(client.get('records', { cancelToken: source.token }))
  await vi.waitFor(() => expect(tokenRequests()).toBe(1), { timeout: 15_000 })
  source.cancel()
  expect(await call).toMatchObject({ name: 'CanceledError', code: 'ERR_CANCELED' })
  expect(calls()).toBe(0)
})

describe('a redirect', () => {
  const to = (url: string, status = 302) => ({ params: { to: url, status } })

  test("out of the API carries no token, and the caller's beforeRedirect still runs", async () => {
    const beforeRedirect = vi.fn<() => void>()
    const { data } = await client.get('redirect', { ...to(outside()), beforeRedirect })
    expect(data).toEqual({ authorization: false })
    expect(beforeRedirect).toHaveBeenCalledOnce()
  })

  test('to an origin that is no API carries no token, nor does the 401 of that origin cost one', async () => {
    const elsewhere = await openScriptedApi(() => rejection)
    expect((await client.get('redirect', to(elsewhere.url))).status).toBe(401)
    expect(elsewhere.requests.map(({ headers }) => headers.authorization)).toEqual([undefined])
    expect([calls(), tokenRequests()]).toEqual([1, 1])
    await elsewhere.close()
  })

  test('that turned a POST into a GET is not taken back by a 401: the POST is sent once', async () => {
    const { status } = await client.post('redirect', 'x', to('status/401', 303))
    expect([status, calls(), tokenRequests()]).toEqual([401, 2, 1])
  })

  test('that turned a POST into a GET drops a token that is refused then, so that the next call gets a new one', async () => {
    const events: TokenlaneEvent[] = []
    tokens.observe((event) => events.push(event))
    await client.post('redirect', 'x', to('status/401', 303))
    const finished = events.find(({ type }) => type === 'call.finished')
    expect(finished).toMatchObject({ status: 401, sends: 1, resends: [] })
    expect((await client.get('records')).status).toBe(200)
    expect([calls(), tokenRequests()]).toEqual([3, 2])
  })

  test('that turned a POST into a GET, and another one within the API, keep the token', async () => {
    expect((await client.post('redirect', 'x', to('redirect?to=records', 303))).status).toBe(200)
  })

  test('is not followed by the fetch adapter', async () => {
    expect((await client.get('redirect', { ...to(outside()), adapter: 'fetch' })).status).toBe(302)
  })
})

describe('axios-retry', () => {
  const orders: [string, (instance: AxiosInstance) => void][] = [
    ['before', (instance) => (axiosRetry(instance, { retries: 2 }), attachTokens(instance, tokens))],
    ['after', (instance) => (attachTokens(instance, tokens), axiosRetry(instance, { retries: 2 }))],
  ]

  test.each(orders)(
    'added %s the tokens retries each failure once, with the token of that time',
    async (_, add) => {
      const instance = axios.create({ baseURL: sandbox.weblinkUrl, httpsAgent })
      add(instance)
      sandbox.control.failApi('weblink', { status: 503, times: 2 })
      expect((await instance.get('records')).status).toBe(200)
      expect(calls()).toBe(3)
      await revoke(tokens)
      expect((await instance.get('records')).status).toBe(200)
      expect([calls(), tokenRequests()]).toEqual([2, 1])
    },
  )
})

describe('attachTokens', () => {
  test('of two managers on one instance: each serves its own APIs, once', async () => {
    const general = createManager({ apis: [{ baseUrl: sandbox.apiUrl, issuer: 'general' }] })
    const weblink = createManager({ apis: [{ baseUrl: sandbox.weblinkUrl, issuer: 'weblink' }] })
    const instance = axios.create({ httpsAgent })
    attachTokens(instance, general)
    const detachWeblink = attachTokens(instance, weblink)
    await weblink.getToken('weblink')
    sandbox.control.revokeTokens('weblink')
    sandbox.control.resetCounts()
    for (const url of [sandbox.apiUrl, sandbox.weblinkUrl])
      expect((await instance.get(`${url}records`)).status).toBe(200)
    const { apis, issuers } = sandbox.control.counts()
    expect([apis.general.calls, issuers.general.requests]).toEqual([1, 1])
    expect([apis.weblink.calls, issuers.weblink.requests]).toEqual([2, 1])
    detachWeblink()
    expect(await failure(instance.get(`${sandbox.weblinkUrl}records`))).toMatchObject({ status: 401 })
    expect((await instance.get(`${sandbox.apiUrl}records`)).status).toBe(200)
  })

  test('again returns the same detach', () => {
    expect(attachTokens(client, tokens)).toBe(detach)
  })

  test('refuses wrong arguments at once', () => {
    const refused = expect.objectContaining({ code: 'INVALID_OPTIONS' })
    expect(() => attachTokens(undefined as never, tokens)).toThrow(refused)
    expect(() => attachTokens(client, {} as never)).toThrow(refused)
    expect(() => attachTokens(tokens as never, client as never)).toThrow(
      '`instance` must be an axios instance, as in attachTokens(axios, tokens)',
    )
  })
})

describe('as with axios alone', () => {
  test('a response is printed like a plain object, with the request that was sent', async () => {
    const response = await client.get('records')
    expect(Object.keys(response).toSorted()).toEqual([
      'config',
      'data',
      'duration',
      'headers',
      'request',
      'status',
      'statusText',
    ])
    expect(Object.getPrototypeOf(response)).toBe(Object.prototype)
    expect(printed(response)).toContain('request: [Getter/Setter]')
    const { request } = response as { request: { path: string; res: { responseUrl: string } } }
    expect(request.path).toBe(new URL('records', sandbox.weblinkUrl).pathname)
    expect(request.res.responseUrl).toBe(new URL('records', sandbox.weblinkUrl).href)
    response.request = undefined
    expect(response.request).toBeUndefined()
  })

  test('a call starts in the turn that it is made in', async () => {
    let sent = 0
    const adapter = async (config: InternalAxiosRequestConfig): Promise<AxiosResponse> => {
      sent += 1
      return { data: '', status: 200, statusText: '', headers: {}, config }
    }
    const call = client.get('https://elsewhere.example/', { adapter })
    expect(sent).toBe(1)
    await call
  })

  test('an adapter gets all of the configuration, which no prototype adds to', async () => {
    const adapter = vi.fn(async (config: InternalAxiosRequestConfig): Promise<AxiosResponse> => {
      return { config, data: '', headers: {}, status: 200, statusText: 'OK' }
    })
    const own = Symbol('own')
    client.interceptors.request.use((config) => Object.assign(config, { [own]: 'mine' }))
    await client.get('records', { adapter })
    const [config] = adapter.mock.lastCall ?? []
    expect(config).toMatchObject({ [own]: 'mine' })
    expect(Object.getPrototypeOf(config)).toBeNull()
  })

  test('an adapter that answers with nothing is a TypeError', async () => {
    const adapter = async (): Promise<AxiosResponse> => undefined as never
    expect(await failure(client.get('records', { adapter }))).toBeInstanceOf(TypeError)
  })

  test('parameters that make no URL are an error of axios', async () => {
    const at = { at: new Date(Number.NaN) }
    const error = await failure(client.get('http://localhost/', { params: at }))
    expect(error).toBeInstanceOf(AxiosError)
    expect(error.code).toBe('ERR_BAD_REQUEST')
  })

  test('an adapter that needs no URL gets calls that have none', async () => {
    const at = { at: new Date(Number.NaN) }
    const adapter = async (config: InternalAxiosRequestConfig): Promise<AxiosResponse> => ({
      data: '',
      status: 200,
      statusText: '',
      headers: {},
      config,
    })
    expect((await client.get('', { params: at, adapter })).status).toBe(200)
  })
})
