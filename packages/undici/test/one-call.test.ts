import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { getEventListeners } from 'node:events'
import { Readable } from 'node:stream'

import { openScriptedApi, rejection, type ScriptedApi, type ScriptedResponse } from '@tokenlane/conformance'
import type { TokenManager } from '@tokenlane/core'
import { fakeTokens } from '@tokenlane/core/testing'
import { openService } from '@tokenlane/testing'
import * as undici7 from 'undici'
import * as undici8 from 'undici-8'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { tokensInterceptor } from '../src/index.ts'

const { sandbox, createManager } = await openService()
// their types do not fit each other
const versions = [
  { version: 7, undici: undici7 },
  { version: 8, undici: undici8 as unknown as typeof undici7 },
]

let api: ScriptedApi
let status: number

beforeEach(async () => {
  status = 200
  api = await openScriptedApi(() => (status === 401 ? rejection : { status, body: 'ok' }))
})
afterEach(() => api.close())

type Handler = undici7.Dispatcher.DispatchHandler

describe.each(versions)('undici $version', ({ undici }) => {
  const { Agent, request } = undici

  describe('while a call waits for its token', () => {
    let waiting: TokenManager
    beforeEach(() => {
      sandbox.control.slowIssuer('weblink', 60_000)
      const ratePolicy = { limits: [], concurrency: 1 }
      waiting = createManager({ apis: [{ baseUrl: api.url, issuer: 'weblink', ratePolicy }] })
    })
    const dispatcher = (): undici7.Dispatcher => new Agent().compose(tokensInterceptor(waiting))
    const expectFree = (): void => expect(waiting.status().apis[0]).toMatchObject({ queued: 0, running: 0 })

    test('its signal has the one listener that undici puts there', async () => {
      const controller = new AbortController()
      const call = request(api.url, { dispatcher: dispatcher(), signal: controller.signal })
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)
      const reason = new Error('enough')
      controller.abort(reason)
      await expect(call).rejects.toBe(reason)
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
      expectFree()
    })

    test.each<[string, Error | undefined]>([
      ['destroyed', undefined],
      ['failed', new Error('disk')],
    ])('a body that is %s ends it, and leaves its turn to the next call', async (_, error) => {
      const body = new Readable({ read() {} })
      const call = request(api.url, { dispatcher: dispatcher(), method: 'POST', body })
      setImmediate(() => body.destroy(error))
      const failure: unknown = await call.catch((reason: unknown) => reason)
      const { RequestAbortedError } = undici.errors
      expect(error === undefined ? failure instanceof RequestAbortedError : failure === error).toBe(true)
      expectFree()
      expect(api.requests).toEqual([])
    })
  })

  test.each([
    ['once more by undici, as one of a pipeline', ['start', 'start']],
    ['by us after a 401', ['start']],
  ])('is told of the start of a request that is sent again %s', (how, expected) => {
    const tokens = fakeTokens({ apis: [api.url] })
    const sent: Handler[] = []
    const dispatch = tokensInterceptor(tokens)((_options: object, handler: Handler) => sent.push(handler) > 0)
    const told: string[] = []
    const { origin } = new URL(api.url)
    dispatch(
      { origin, path: '/', method: 'GET' },
      {
        onRequestStart: () => void told.push('start'),
        onResponseStart: () => {},
        onResponseData: () => {},
        onResponseEnd: () => {},
        onResponseError: () => {},
      },
    )
    const controller = { abort() {}, pause() {}, resume() {} } as never
    sent[0]!.onRequestStart!(controller, {})
    if (how.includes('undici')) sent[0]!.onRequestStart!(controller, {})
    else {
      sent[0]!.onResponseStart!(controller, 401, rejection.headers!)
      sent[0]!.onResponseEnd!(controller, {})
    }
    expect(told).toEqual(expected)
  })

  test('has the context that interceptors beneath give, also if it had to wait for its token', async () => {
    const beneath: undici7.Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
      dispatch(options, {
        ...handler,
        onRequestStart: (controller, context) =>
          handler.onRequestStart?.(controller, { ...(context as object), from: 'beneath' }),
        onResponseStart: (...given) => handler.onResponseStart?.(...given),
        onResponseData: (...given) => handler.onResponseData?.(...given),
        onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
        onResponseError: (...given) => handler.onResponseError?.(...given),
      })
    const tokens = createManager({ apis: [{ baseUrl: api.url, issuer: 'weblink' }] })
    const dispatcher = new Agent().compose(beneath, tokensInterceptor(tokens))
    for (const token of ['none yet', 'live']) {
      const { context, body } = await request(api.url, { dispatcher })
      await body.dump()
      expect(context, token).toMatchObject({ from: 'beneath' })
    }
  })

  test("a proxy's 407 fails a call as without tokens", async () => {
    status = 407
    const failure = async (through: undici7.Dispatcher): Promise<unknown> => {
      const call = request('http://api.test/a', { dispatcher: through })
      const response: unknown = await call.catch(({ name, message }: Error) => `${name} ${message}`)
      return typeof response === 'string' ? response : (response as { statusCode: number }).statusCode
    }
    const tokens = fakeTokens({ apis: ['http://api.test/'] })
    const options = { uri: api.url, proxyTunnel: false } as undici7.ProxyAgent.Options
    const environment = { httpProxy: api.url, proxyTunnel: false } as object
    for (const proxy of [new undici.ProxyAgent(options), new undici.EnvHttpProxyAgent(environment)])
      expect(await failure(proxy.compose(tokensInterceptor(tokens)))).toBe(await failure(proxy))
    expect(api.requests[0]!.headers.authorization).toBeDefined()
  })

  test('is sent again in the async context of its own caller', async () => {
    const context = new AsyncLocalStorage<string>()
    const seen: [string, string | undefined][] = []
    const created = (message: unknown): void => {
      const { path, origin } = (message as { request: { path: string; origin: string } }).request
      if (api.url.startsWith(origin)) seen.push([path, context.getStore()])
    }
    status = 401
    const tokens = fakeTokens({ apis: [api.url] })
    // one connection for all
    const agent = new Agent({ connections: 1 })
    const dispatcher = agent.compose(tokensInterceptor(tokens))
    subscribe('undici:request:create', created)
    await Promise.all(
      ['/a', '/b', '/c'].map((path) =>
        context.run(path, async () => {
          const { body } = await request(new URL(path, api.url), { dispatcher, method: 'POST', body: 'x' })
          await body.dump()
        }),
      ),
    )
    unsubscribe('undici:request:create', created)
    expect(seen.length).toBeGreaterThan(3)
    expect(seen.filter(([path, store]) => path !== store)).toEqual([])
    await agent.close()
  })

  test.each<[how: string, queued: boolean, answer: ScriptedResponse]>([
    ['read', false, { status: 200, body: 'ok' }],
    ['read, in a queue', true, { status: 200, body: 'ok' }],
    ['refused, in a queue', true, rejection],
    ['broken, in a queue', true, { status: 200, body: 'ok', broken: true }],
  ])('is reported in the async context of its own caller: %s', async (_how, queued, answer) => {
    const context = new AsyncLocalStorage<string>()
    const seen: unknown[][] = []
    const of = await openScriptedApi(() => answer)
    const ratePolicy = { limits: [], concurrency: 1 }
    const tokens = fakeTokens({ apis: [queued ? { baseUrl: of.url, ratePolicy } : of.url] })
    tokens.observe((event) => {
      if (event.type === 'call.finished') seen.push([event.path, context.getStore()])
    })
    // one connection for all
    const agent = new Agent({ connections: 1 })
    const dispatcher = agent.compose(tokensInterceptor(tokens))
    const send = async (path: string): Promise<unknown> =>
      (await request(new URL(path, of.url), { dispatcher })).body.text().catch(() => {})
    const paths = ['/a', '/b', '/c']
    await Promise.all(paths.map((path) => context.run(path, send, path)))
    await tokens.close()
    expect(seen).toHaveLength(3)
    expect(seen.filter(([path, store]) => path !== store)).toEqual([])
    await agent.close()
    await of.close()
  })
})

// undici 7 takes it, and ends the process at a failure
test('undici 8: a handler that cannot hear of a failure is refused as bare, while its call waits', () => {
  sandbox.control.slowIssuer('weblink', 60_000)
  const ratePolicy = { limits: [], concurrency: 1 }
  const waiting = createManager({ apis: [{ baseUrl: api.url, issuer: 'weblink', ratePolicy }] })
  const { Agent, errors } = undici8
  const dispatcher = new Agent().compose(tokensInterceptor(waiting))
  const handler = {
    onRequestStart: () => {},
    onResponseStart: () => {},
    onResponseData: () => {},
    onResponseEnd: () => {},
  }
  const send = (): unknown =>
    dispatcher.dispatch({ origin: new URL(api.url).origin, path: '/', method: 'GET' }, handler)
  expect(send).toThrow(new errors.InvalidArgumentError('invalid onResponseError method'))
  expect(waiting.status().apis[0]).toMatchObject({ queued: 0, running: 0 })
})
