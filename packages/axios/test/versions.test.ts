import { createRequire } from 'node:module'
import { PassThrough } from 'node:stream'

import { openScriptedApi, rejection, type ScriptedApi } from '@tokenlane/conformance'
import { fakeTokens } from '@tokenlane/core/testing'
import { openService } from '@tokenlane/testing'
import newest, { type AxiosError, type AxiosStatic } from 'axios'
import axios112 from 'axios-1.12'
import axios116 from 'axios-1.16'
import axios17 from 'axios-1.7'
import { describe, expect, onTestFinished, test } from 'vitest'

import { attachTokens } from '../src/index.ts'

const { sandbox, createManager, tokenRequests, revoke } = await openService()
const common = createRequire(import.meta.url)('axios') as AxiosStatic

// the oldest and the newest of the peer range, two between, and a copy that is not the one of ES modules
const copies = Object.entries({
  '1.7': axios17,
  '1.12': axios112,
  '1.16': axios116,
  newest,
  CommonJS: common,
})
const ways = copies.flatMap(([name, copy]) =>
  ['http', 'fetch'].map((adapter) => ({ name, adapter, axios: copy as unknown as AxiosStatic })),
)

const failure = (call: Promise<unknown>): Promise<AxiosError> =>
  call.then(
    () => expect.fail('the call succeeded'),
    (error: unknown) => error as AxiosError,
  )

async function open(...script: Parameters<typeof openScriptedApi>): Promise<ScriptedApi> {
  const api = await openScriptedApi(...script)
  onTestFinished(() => api.close())
  return api
}

describe.each(ways)('axios $name by $adapter', ({ name, adapter, axios }) => {
  // axios/axios#4965, axios/axios#3924
  test('no redirect out of its API, also on its origin, has the token', async () => {
    const api = await open(({ url }) => {
      const location = { '/api/out': '/outside', '/api/other': '/second/x' }[url]
      return location === undefined ? { status: 200 } : { status: 302, headers: { location } }
    })
    const client = axios.create({ adapter, proxy: false, validateStatus: () => true })
    attachTokens(client, fakeTokens({ apis: [`${api.url}api/`, `${api.url}second/`] }))
    for (const path of ['out', 'other']) await client.get(`${api.url}api/${path}`)
    const withToken = api.requests.filter(({ headers }) => headers.authorization !== undefined)
    expect(withToken.map(({ url }) => url)).toEqual(['/api/out', '/api/other'])
  })

  // axios/axios#1415, axios/axios#5394
  test("errors are of the caller's own classes, in an API and outside of every one", async () => {
    const api = await open(({ url }) => ({
      status: url.endsWith('slow') ? 200 : 404,
      endless: url.endsWith('slow'),
    }))
    const client = axios.create({ adapter, proxy: false })
    attachTokens(client, fakeTokens({ apis: [`${api.url}api/`] }))
    for (const path of ['api/x', 'outside']) {
      const error = await failure(client.get(api.url + path))
      expect([error.response?.status, error instanceof axios.AxiosError]).toEqual([404, true])
      expect(error.response?.headers).toBeInstanceOf(axios.AxiosHeaders)
      expect(error.config?.url).toBe(api.url + path)
      const bare = await failure(axios.get(`${api.url}slow`, { adapter, proxy: false, signal: soon() }))
      const aborted = await failure(client.get(`${api.url}${path}slow`, { signal: soon() }))
      expect([aborted.constructor, axios.isCancel(aborted)]).toEqual([bare.constructor, axios.isCancel(bare)])
    }
    const refused = await failure(client.get('http://127.0.0.1:9/'))
    expect(refused).toBeInstanceOf(axios.AxiosError)
    const waiting = client.get(`${api.url}api/x`, { signal: AbortSignal.abort() })
    expect(await failure(waiting)).toBeInstanceOf(axios.CanceledError)
  })

  test('an error that axios gives no config has none, outside of every API', async () => {
    const client = axios.create({ adapter, proxy: false })
    const bare = await failure(client.get('http://'))
    attachTokens(client, fakeTokens({ apis: ['https://api.example.com/'] }))
    const error = await failure(client.get('http://'))
    expect([error.constructor, Object.keys(error)]).toEqual([bare.constructor, Object.keys(bare)])
  })

  // axios/axios#939
  test('the config of a response and of an error shows the headers that axios has sent, but for the token', async () => {
    const api = await open(({ url }) => ({ status: url.endsWith('x') ? 200 : 404 }))
    const client = axios.create({ adapter, proxy: false })
    const shown = async (path: string): Promise<unknown> => {
      const settled = await client
        .post(api.url + path, { id: 7 })
        .catch((error: unknown) => error as AxiosError)
      return settled.config?.headers.toJSON()
    }
    const bare = [await shown('x'), await shown('y')]
    attachTokens(client, fakeTokens({ apis: [api.url] }))
    expect([await shown('x'), await shown('y')]).toEqual(bare)
    expect(api.requests.at(-1)?.headers).toHaveProperty('authorization')
  })

  // axios/axios#4806, axios/axios#3435
  test('a 401 with a body longer than maxContentLength renews the token, and the call is sent again', async () => {
    const api = await open((_, number) =>
      number === 1 ? { ...rejection, body: 'x'.repeat(5_000) } : { status: 200 },
    )
    const tokens = createManager({ apis: [{ baseUrl: api.url, issuer: 'weblink' }] })
    onTestFinished(() => tokens.close())
    const client = axios.create({ adapter, proxy: false, maxContentLength: 2_000, maxRedirects: 0 })
    attachTokens(client, tokens)
    await revoke(tokens)
    expect((await client.get(api.url)).status).toBe(200)
    expect([api.requests.length, tokenRequests()]).toEqual([2, 1])
  })

  test.each([
    ['shows its progress', { onDownloadProgress: () => {} }],
    ['has a signal', { signal: new AbortController().signal }],
    ['has a timeout and is streamed', { timeout: 60_000, responseType: 'stream' as const }],
  ])('a 401 to a call that %s renews the token, and the call is sent again', async (_call, options) => {
    const api = await open((_, number) => (number === 1 ? rejection : { status: 200 }))
    const client = axios.create({ adapter, proxy: false })
    attachTokens(client, fakeTokens({ apis: [api.url] }))
    expect((await client.get(api.url, options)).status).toBe(200)
    expect(api.requests).toHaveLength(2)
  })

  // axios/axios#3780
  test('an upload whose source goes away while its call waits fails with an error of axios', async () => {
    const renewed = Promise.withResolvers<void>()
    const tokens = createManager({
      fetch: async (...request) => {
        const response = await fetch(...request)
        await renewed.promise
        return response
      },
    })
    onTestFinished(() => tokens.close())
    const client = axios.create({ adapter, proxy: false, baseURL: sandbox.weblinkUrl })
    attachTokens(client, tokens)
    for (const reason of [undefined, new Error('gone')]) {
      const data = new PassThrough()
      const call = failure(client.post('echo', data))
      data.destroy(reason)
      const error = await call
      expect(error).toBeInstanceOf(axios.AxiosError)
      const isCanceled = adapter === 'http' && reason === undefined
      expect([axios.isCancel(error), error.config?.url], name).toEqual([isCanceled, 'echo'])
    }
    renewed.resolve()
  })
})

/** Aborts when the request is on its way. */
function soon(): AbortSignal {
  return AbortSignal.timeout(50)
}
