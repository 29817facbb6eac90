import { EventEmitter } from 'node:events'
import { createReadStream } from 'node:fs'
import { PassThrough, Readable } from 'node:stream'

import { openScriptedApi, rejection, type ScriptedApi } from '@tokenlane/conformance'
import type { TokenManager } from '@tokenlane/core'
import { openService } from '@tokenlane/testing'
import * as undici7 from 'undici'
import * as undici8 from 'undici-8'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { tokensInterceptor } from '../src/index.ts'

const { createManager } = await openService()
const versions = [
  { version: 7, undici: undici7 },
  { version: 8, undici: undici8 as unknown as typeof undici7 },
]

let api: ScriptedApi
let tokens: TokenManager
let rejects: boolean

beforeEach(async () => {
  rejects = false
  api = await openScriptedApi(() => (rejects ? rejection : { status: 200, body: 'ok' }))
  tokens = createManager({
    apis: [
      {
        baseUrl: api.url,
        issuer: 'weblink',
        ratePolicy: { limits: [{ quota: 1, window: 3_600_000 }], spread: true },
      },
    ],
  })
})
afterEach(() => Promise.all([api.close(), tokens.close()]))

const queued = (): number | undefined => tokens.status().apis[0]!.queued

describe.each(versions)('undici $version', ({ undici }) => {
  const { Agent, errors } = undici
  const withTokens = (): undici7.Dispatcher => new Agent().compose(tokensInterceptor(tokens))

  /** Each begins a call that `signal` ends, and returns how it fails. */
  const ways: [string, (signal: AbortSignal) => Promise<unknown>][] = [
    ['request', (signal) => undici.request(api.url, { dispatcher: withTokens(), signal }).catch(itself)],
    [
      'stream',
      (signal) => {
        const options = { dispatcher: withTokens(), signal, method: 'GET' as const }
        return undici.stream(api.url, options, () => new PassThrough()).catch(itself)
      },
    ],
    [
      'pipeline',
      (signal) => {
        const options = { dispatcher: withTokens(), signal, method: 'GET' as const }
        return failureOf(undici.pipeline(api.url, options, ({ body }) => body).end())
      },
    ],
  ]

  describe.each(ways)('%s', (_, call) => {
    const waits: [string, () => Promise<void>][] = [
      ['for a token', async () => {}],
      [
        'in the queue',
        async () => {
          await (await undici.request(api.url, { dispatcher: withTokens() })).body.dump()
        },
      ],
    ]
    describe.each(waits)('that waits %s', (_name, prepare) => {
      test("is ended by an EventEmitter with undici's own error", async () => {
        await prepare()
        const before = api.requests.length
        const signal = new EventEmitter()
        const failure = call(signal as unknown as AbortSignal)
        await vi.waitFor(() => expect(queued()).toBe(1))
        signal.emit('abort')
        const error = await failure
        expect(error).toBeInstanceOf(errors.RequestAbortedError)
        expect(error).toBeInstanceOf(errors.UndiciError)
        expect([queued(), api.requests.length - before, signal.listenerCount('abort')]).toEqual([0, 0, 0])
      })

      test('is ended by an AbortSignal with its reason', async () => {
        await prepare()
        const controller = new AbortController()
        const failure = call(controller.signal)
        await vi.waitFor(() => expect(queued()).toBe(1))
        const reason = new Error('too late')
        controller.abort(reason)
        expect(await failure).toBe(reason)
        expect(queued()).toBe(0)
      })

      test('is not begun where its signal has aborted', async () => {
        await prepare()
        const before = api.requests.length
        expect(await call(AbortSignal.abort())).toMatchObject({ name: 'AbortError' })
        expect([queued(), api.requests.length - before]).toEqual([0, 0])
      })
    })
  })

  test('a pipeline that is destroyed while it waits leaves the queue', async () => {
    const call = undici.pipeline(api.url, { dispatcher: withTokens(), method: 'POST' }, ({ body }) => body)
    const failure = failureOf(call)
    await vi.waitFor(() => expect(queued()).toBe(1))
    call.destroy()
    expect(await failure).toBeInstanceOf(errors.RequestAbortedError)
    await vi.waitFor(() => expect(queued()).toBe(0))
    expect(api.requests.length).toBe(0)
  })

  test('a body that fails while its call waits is the failure of the call', async () => {
    const missing = createReadStream('/no such file')
    const failing = new Readable({ read() {} })
    const options = { dispatcher: withTokens(), method: 'POST' as const }
    const calls = [missing, failing].map((body) => undici.request(api.url, { ...options, body }))
    const reason = new Error('no more')
    failing.destroy(reason)
    const failures = await Promise.all(calls.map((call) => call.catch(itself)))
    expect(failures).toEqual([expect.objectContaining({ code: 'ENOENT' }), reason])
    expect([queued(), api.requests.length]).toEqual([0, 0])
  })

  test('a call that waits between two attempts is ended by its own handler', async () => {
    rejects = true
    const ends = Promise.withResolvers<unknown>()
    let abort: (() => void) | undefined
    const handler: undici7.Dispatcher.DispatchHandler = {
      onRequestStart: (controller) => (abort = () => controller.abort(undefined as never)),
      onResponseStart: () => ends.reject(new Error('it has a response')),
      onResponseData: () => {},
      onResponseEnd: () => {},
      onResponseError: (_, error) => ends.resolve(error),
    }
    withTokens().dispatch({ origin: new URL(api.url).origin, path: '/', method: 'GET' }, handler)
    // the second attempt waits for a unit of the policy
    await vi.waitFor(() => expect([api.requests.length, queued()]).toEqual([1, 1]))
    abort!()
    expect(await ends.promise).toBeInstanceOf(errors.RequestAbortedError)
    await vi.waitFor(() => expect(queued()).toBe(0))
  })

  test('a call that waits while its dispatcher closes fails, and is not sent', async () => {
    const agent = new Agent()
    const dispatcher = agent.compose(tokensInterceptor(tokens))
    const call = undici.request(api.url, { dispatcher }).catch(itself)
    await agent.close()
    expect(await call).toBeInstanceOf(errors.ClientDestroyedError)
    expect(api.requests.length).toBe(0)
  })

  test('what is thrown for a call that is not admitted is uncaught, as what is thrown from a connection', async () => {
    await tokens.close()
    const thrown = new Error('thrown by onResponseError')
    const uncaught = catchNext()
    withTokens().dispatch(
      { origin: new URL(api.url).origin, path: '/', method: 'GET' },
      {
        onRequestStart: () => {},
        onResponseStart: () => {},
        onResponseData: () => {},
        onResponseEnd: () => {},
        onResponseError: () => {
          throw thrown
        },
      },
    )
    expect(await uncaught).toEqual([thrown, 'uncaughtException'])
  })
})

const itself = (error: unknown): unknown => error

function failureOf(stream: NodeJS.EventEmitter): Promise<unknown> {
  return new Promise((resolve) => stream.once('error', resolve))
}

/** Takes the next uncaught exception of the process from the test runner. */
function catchNext(): Promise<unknown[]> {
  const listeners = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  return new Promise((resolve) => {
    process.once('uncaughtException', (...uncaught) => {
      for (const listener of listeners) process.on('uncaughtException', listener)
      resolve(uncaught)
    })
  })
}
