import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { openScriptedApi, type ScriptedApi } from '@tokenlane/conformance'
import type { TokenManager } from '@tokenlane/core'
import { freePort } from '@tokenlane/testing/free-port'
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

beforeEach(async () => {
  api = await openScriptedApi(() => ({ status: 200, headers: { 'x-a': 'b' }, body: 'ok' }))
  tokens = createManager({ apis: [{ baseUrl: `${api.url}api/`, issuer: 'weblink' }] })
})
afterEach(() => Promise.all([api.close(), tokens.close()]))

/** A handler of a caller's own: undici's types do not know one that is wrong. */
type AnyHandler = Record<string, unknown> | null
type AnyOptions = Record<string, unknown>

/** What a handler notes, and `over` once nothing more can come. */
interface Notes {
  readonly events: string[]
  readonly over: PromiseWithResolvers<void>
}

/** Returns a handler that notes all that it is told. */
function noting({ events, over }: Notes): Record<string, (...told: never[]) => void> {
  const end = (event: string): void => {
    events.push(event)
    over.resolve()
  }
  return {
    onRequestStart: () => void events.push('start'),
    onResponseStart: (_, status: number) => void events.push(`status ${status}`),
    onResponseData: (_, chunk: Buffer) => void events.push(`data ${chunk.toString()}`),
    onResponseEnd: () => end('end'),
    onResponseError: (_, error: Error) => end(`error ${textOf(error)}`),
  }
}

/** Returns a handler in the words of undici 6. */
function notingInOldWords({ events, over }: Notes): Record<string, (...told: never[]) => unknown> {
  return {
    onConnect: () => void events.push('start'),
    onHeaders: (status: number) => events.push(`status ${status}`) > 0,
    onData: (chunk: Buffer) => events.push(`data ${chunk.toString()}`) > 0,
    onComplete: () => over.resolve(void events.push('end')),
    onError: (error: Error) => over.resolve(void events.push(`error ${textOf(error)}`)),
  }
}

/** Returns all that a caller sees of one `dispatch`. */
async function seen(
  dispatcher: undici7.Dispatcher,
  options: AnyOptions,
  handlerOf: (notes: Notes) => AnyHandler = noting,
): Promise<string[]> {
  const before = api.requests.length
  const notes = { events: [] as string[], over: Promise.withResolvers<void>() }
  try {
    const isReady = dispatcher.dispatch(options as never, handlerOf(notes) as never)
    notes.events.unshift(`returns ${isReady}`)
    // a handler that lacks a method may hear of no end
    const served = vi.waitFor(() => expect([api.requests.length, api.unfinished()]).toEqual([before + 1, 0]))
    await Promise.race([notes.over.promise, served])
  } catch (error) {
    notes.events.push(`throws ${textOf(error)}`)
  }
  await new Promise((resolve) => setImmediate(resolve))
  return [...notes.events, `requests ${api.requests.length - before}`]
}

function textOf(error: unknown): string {
  const { name, code, message } = error as Error & { code?: string }
  return `${name} ${code} ${message}`
}

const without =
  (name: string) =>
  (notes: Notes): AnyHandler => ({ ...noting(notes), [name]: undefined })

const throwing =
  (name: string) =>
  (notes: Notes): AnyHandler => {
    const handler = noting(notes)
    const note = handler[name]
    return {
      ...handler,
      [name](...told: never[]) {
        note?.(...told)
        throw new Error(`thrown by ${name}`)
      },
    }
  }

describe.each(versions)('undici $version', ({ undici }) => {
  const { Agent, request } = undici
  /** undici 7 hands interceptors another handler than its caller's. */
  const bare = (): undici7.Dispatcher =>
    new Agent().compose((dispatch) => (options, handler) => dispatch(options, handler))
  const withTokens = (): undici7.Dispatcher => new Agent().compose(tokensInterceptor(tokens))

  const calls: [string, AnyOptions, ((notes: Notes) => AnyHandler)?][] = [
    ['a handler with all methods', {}],
    ...['onRequestStart', 'onResponseStart', 'onResponseData', 'onResponseEnd', 'onResponseError'].map(
      (name): [string, AnyOptions, (notes: Notes) => AnyHandler] => [
        `a handler without ${name}`,
        {},
        without(name),
      ],
    ),
    ['a handler with a wrong method', {}, (notes) => ({ ...noting(notes), onBodySent: 5 })],
    ['a handler without methods', {}, () => ({})],
    ['no handler', {}, () => null],
    ['a handler in the words of undici 6', {}, notingInOldWords],
    [
      'a wrong handler in the words of undici 6',
      {},
      (notes) => ({ ...notingInOldWords(notes), onHeaders: 5 }),
    ],
    ['a handler whose onRequestStart throws', {}, throwing('onRequestStart')],
    ['a handler whose onResponseStart throws', {}, throwing('onResponseStart')],
    ['a handler whose onResponseData throws', {}, throwing('onResponseData')],
    ['a handler whose onResponseEnd throws', {}, throwing('onResponseEnd')],
    ['a refused request whose onResponseError throws', { method: 'NO METHOD' }, throwing('onResponseError')],
    ['headers that are text', { headers: 'x' }],
    ['headers that are an array of one pair', { headers: [['a', 'b']] }],
    [
      'headers that are an array of pairs',
      {
        headers: [
          ['a', 'b'],
          ['c', 'd'],
        ],
      },
    ],
    ['headers that are half a pair', { headers: ['a'] }],
    ['headers that are no pairs', { headers: new Set(['ab']) }],
    ['headers that are pairs', { headers: new Map([['a', 'b']]) }],
    ['a header that is an object', { headers: { a: {} } }],
    ['a header that is undefined', { headers: { a: undefined } }],
    ['a wrong method', { method: 'NO METHOD' }],
    ['a wrong query', { query: 'x' }],
    ['a wrong body', { method: 'POST', body: 5 }],
    ['wrong timeouts', { headersTimeout: 'long' }],
  ]

  describe.each(['an API', 'no API'])('to %s', (place) => {
    const options = (): AnyOptions => ({
      origin: new URL(api.url).origin,
      path: place === 'an API' ? '/api/a' : '/a',
      method: 'GET',
    })

    test.each(calls)('%s: as without tokens', async (_, more, handlerOf) => {
      await tokens.getToken('weblink')
      const asked = { ...options(), ...more }
      const managed = await seen(withTokens(), asked, handlerOf)
      expect(managed).toEqual(await seen(bare(), asked, handlerOf))
    })

    test.each(calls)(
      '%s, whose token is on its way: sent only if it is without tokens',
      async (_, ...call) => {
        const [more, handlerOf] = call
        // what it throws is then thrown outside of `dispatch`
        if (more['method'] === 'NO METHOD' && handlerOf !== undefined) return
        const asked = { ...options(), ...more }
        const managed = await seen(withTokens(), asked, handlerOf)
        expect(managed.at(-1)).toBe((await seen(bare(), asked, handlerOf)).at(-1))
      },
    )

    test('a connection that fails: as without tokens', async () => {
      const origin = `http://127.0.0.1:${await freePort()}`
      const manager = createManager({ apis: [{ baseUrl: `${origin}/api/`, issuer: 'weblink' }] })
      await manager.getToken('weblink')
      const asked = { ...options(), origin }
      const managed = await seen(new Agent().compose(tokensInterceptor(manager)), asked)
      expect(managed).toEqual(await seen(bare(), asked))
      await manager.close()
    })
  })

  test('what is outside of every API goes to undici with the handler and the options of the caller', () => {
    const taken: unknown[] = []
    const dispatch = tokensInterceptor(tokens)((...given: [unknown, unknown]) => {
      taken.push(...given)
      return false
    })
    const options = { origin: api.url, path: '/', method: 'GET', headers: {} }
    const handler = {}
    expect(dispatch(options, handler)).toBe(false)
    expect(taken[0]).toBe(options)
    expect(taken[1]).toBe(handler)
  })

  test('an iterator that other code gave to every object makes no pairs of headers', async () => {
    Reflect.defineProperty(Object.prototype, Symbol.iterator, { configurable: true, *value() {} })
    try {
      const dispatcher = withTokens()
      const { body } = await request(`${api.url}api/a`, { dispatcher, headers: { 'x-mine': 'a' } })
      await body.dump()
    } finally {
      Reflect.deleteProperty(Object.prototype, Symbol.iterator)
    }
    expect(api.requests.at(-1)?.headers).toMatchObject({
      'x-mine': 'a',
      authorization: expect.stringMatching(/^Bearer /) as string,
    })
  })

  test('tells the caller when to wait for `drain`', async () => {
    await tokens.getToken('weblink')
    const { origin } = new URL(api.url)
    const returned = (composed: undici7.Dispatcher): boolean[] =>
      [1, 2].map(() =>
        composed.dispatch(
          { origin, path: '/api/a', method: 'GET' },
          noting({ events: [], over: Promise.withResolvers() }),
        ),
      )
    const alone = returned(new undici.Client(origin))
    expect(alone).toContain(false)
    expect(returned(new undici.Client(origin).compose(tokensInterceptor(tokens)))).toEqual(alone)
  })

  test('tells of the start of a request once it is on a connection', async () => {
    const server = createServer((_, response) => response.end('ok'))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const origin = `http://127.0.0.1:${port}`
    const manager = createManager({ apis: [{ baseUrl: `${origin}/`, issuer: 'weblink' }] })
    await manager.getToken('weblink')
    const notes = { events: [] as string[], over: Promise.withResolvers<void>() }
    server.on('connection', () => notes.events.push('connection'))
    const sendHeaders = (message: unknown): void => {
      const sent = message as { readonly request: { readonly origin: string } }
      if (sent.request.origin === origin) notes.events.push('headers')
    }
    const { subscribe, unsubscribe } = process.getBuiltinModule('node:diagnostics_channel')
    subscribe('undici:client:sendHeaders', sendHeaders)
    const connected = new Agent({ connect: undici.buildConnector({}) })
    connected.on('connect', () => notes.events.push('connect'))
    connected
      .compose(tokensInterceptor(manager))
      .dispatch({ origin, path: '/', method: 'GET' }, noting(notes))
    await notes.over.promise
    unsubscribe('undici:client:sendHeaders', sendHeaders)
    expect(notes.events.filter((event) => event !== 'connection')).toEqual([
      'connect',
      'start',
      'headers',
      'status 200',
      'data ok',
      'end',
    ])
    server.close()
    await manager.close()
  })

  test.each<[string, unknown]>([
    ['an object', { authorization: undefined, 'x-a': 'b' }],
    ['an object, in capitals', { Authorization: undefined, 'x-a': 'b' }],
    ['an object, as null', { authorization: null, 'x-a': 'b' }],
    ['names and values in turn', ['authorization', undefined, 'x-a', 'b']],
    [
      'pairs',
      new Map([
        ['authorization', undefined],
        ['x-a', 'b'],
      ] as [string, string | undefined][]),
    ],
  ])('an Authorization without a value is none: %s', async (_, headers) => {
    const options = { dispatcher: withTokens(), headers: headers as Record<string, string> }
    await (await request(`${api.url}api/a`, options)).body.dump()
    expect(api.requests[0]!.headers).toMatchObject({
      'x-a': 'b',
      authorization: expect.stringMatching(/^Bearer ./),
    })
  })

  test('a MockAgent that knows no such request shows no token', async () => {
    const { value } = await tokens.getToken('weblink')
    const mock = new undici.MockAgent()
    mock.disableNetConnect()
    const headers = { 'x-secret': 'one' }
    mock.get(new URL(api.url).origin).intercept({ path: '/api/a', headers }).reply(200)
    const dispatcher = mock.compose(tokensInterceptor(tokens))
    const error = await request(`${api.url}api/a`, { dispatcher, headers: { 'x-a': 'b' } }).catch(
      (reason: Error) => reason,
    )
    expect(error).toMatchObject({ code: 'UND_MOCK_ERR_MOCK_NOT_MATCHED' })
    expect(String((error as Error).stack)).toContain('x-a')
    expect((error as Error).message + (error as Error).stack).not.toContain(value)
  })
})

describe("Node's own fetch", () => {
  test.each(['api/a', 'a'])(
    'through a dispatcher of undici 8, which refuses it, sends nothing: %s',
    async (path) => {
      const dispatcher = new undici8.Agent().compose(tokensInterceptor(tokens))
      const failure = (through: undici8.Dispatcher): Promise<unknown> =>
        fetch(api.url + path, { dispatcher: through } as object).then(
          ({ status }) => status,
          ({ message, cause }: Error) => [message, textOf(cause)],
        )
      expect(await failure(dispatcher)).toEqual(await failure(new undici8.Agent()))
      await tokens.getToken('weblink')
      expect(await failure(dispatcher)).toEqual(await failure(new undici8.Agent()))
    },
  )
})
