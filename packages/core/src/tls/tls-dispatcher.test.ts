import tls from 'node:tls'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { secureDispatchers } from './tls-dispatcher.ts'

/** Where the runtime's `fetch` looks for its dispatcher. */
const major = Number.parseInt(process.versions['undici'] ?? '', 10)
const place = Symbol.for(`undici.globalDispatcher.${major >= 8 ? 2 : 1}`)
const holder = (globalThis.Response, globalThis) as unknown as Record<symbol, object>
const standard = holder[place] as object
const Agent = standard.constructor as new (options: object) => object

const floor = tls.DEFAULT_MIN_VERSION
const url = 'https://api.example.com/'
const lax = { minVersion: 'TLSv1' }
const strict = { minVersion: 'TLSv1.2' }

/** As undici's dispatchers of other kinds keep what they are made of. */
const proxyAgent = (requestTls?: object): object => ({ [Symbol('request tls settings')]: requestTls })
const envProxyAgent = (proxy: object): object => ({
  [Symbol('no proxy agent')]: new Agent({ connect: strict }),
  [Symbol('https proxy agent')]: proxy,
})

afterEach(() => {
  tls.DEFAULT_MIN_VERSION = floor
  holder[place] = standard
})

test.each([
  ['an agent', new Agent({ connect: lax })],
  ['an agent with interceptors', new Proxy(new Agent({ connect: lax }), {})],
  ['a proxy agent', proxyAgent(lax)],
  ["a proxy agent of the environment's", envProxyAgent(proxyAgent(lax))],
])('%s that allows TLS 1.0 is refused, given or global', (_what, dispatcher) => {
  expect(() => secureDispatchers()({ url, dispatcher })).toThrow("`dispatcher` has `minVersion: 'TLSv1'`")
  holder[place] = dispatcher
  expect(() => secureDispatchers()({ url })).toThrow("`the global dispatcher` has `minVersion: 'TLSv1'`")
})

test('what cannot be looked into passes where the process keeps to TLS 1.2', () => {
  for (const dispatcher of [{}, new Agent({ connect: () => {} }), envProxyAgent({}), proxyAgent()])
    expect(secureDispatchers()({ url, dispatcher })).toBeUndefined()
})

test('a new global dispatcher is looked at', () => {
  const dispatcherFor = secureDispatchers()
  expect(dispatcherFor({ url })).toBeUndefined()
  holder[place] = new Agent({ connect: lax })
  expect(() => dispatcherFor({ url })).toThrow('the global dispatcher')
})

describe('where the process allows TLS 1.0', () => {
  beforeEach(() => {
    tls.DEFAULT_MIN_VERSION = 'TLSv1'
  })

  test('one dispatcher is made, and another one after another global one', () => {
    const dispatcherFor = secureDispatchers()
    const first = dispatcherFor({ url })
    expect(first).toBeInstanceOf(Agent)
    expect(dispatcherFor({ url })).toBe(first)
    holder[place] = new Agent({ connections: 3, connect: { ca: 'mine' } })
    const second = dispatcherFor({ url }) as Record<symbol, unknown>
    expect(second).not.toBe(first)
    const options = Object.getOwnPropertySymbols(second).find(({ description }) => description === 'options')
    expect(second[options as symbol]).toMatchObject({ connections: 3, connect: { ca: 'mine', ...strict } })
  })

  test('http: needs none', () => {
    expect(secureDispatchers()({ url: 'http://localhost/' })).toBeUndefined()
    const dispatcher = new Agent({ connect: lax })
    expect(secureDispatchers()({ url: 'http://localhost/', dispatcher })).toBeUndefined()
  })

  test.each([
    ['an agent', new Agent({ connect: strict })],
    ['a proxy agent', proxyAgent(strict)],
    ["a proxy agent of the environment's", envProxyAgent(proxyAgent(strict))],
  ])('%s of TLS 1.2 passes, given or global', (_what, dispatcher) => {
    expect(secureDispatchers()({ url, dispatcher })).toBeUndefined()
    holder[place] = dispatcher
    expect(secureDispatchers()({ url })).toBeUndefined()
  })

  test.each([
    ['an agent that connects by itself', new Agent({ connect: () => {} })],
    [
      'an agent with interceptors',
      new Proxy(new Agent({}), { get: (of, key) => (key === 'dispatch' ? () => {} : Reflect.get(of, key)) }),
    ],
    ['a proxy agent', proxyAgent()],
    ["a proxy agent of the environment's", envProxyAgent(proxyAgent())],
    ['something else', {}],
  ])('%s that names no version is refused, given or global', (_what, dispatcher) => {
    expect(() => secureDispatchers()({ url, dispatcher })).toThrow(
      '`dispatcher` leaves the lowest TLS version',
    )
    holder[place] = dispatcher
    expect(() => secureDispatchers()({ url })).toThrow(
      '`the global dispatcher` leaves the lowest TLS version',
    )
  })

  test('a runtime without such a dispatcher is refused', () => {
    holder[place] = undefined as unknown as object
    expect(() => secureDispatchers()({ url })).toThrow(
      '`the global dispatcher` leaves the lowest TLS version',
    )
  })
})
