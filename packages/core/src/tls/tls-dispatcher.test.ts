import tls from 'node:tls'

import { afterEach, describe, expect, test } from 'vitest'

import { dispatcherMustKeepFloor } from './tls-dispatcher.ts'

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
  expect(() => dispatcherMustKeepFloor({ url, dispatcher })).toThrow("`dispatcher` has `minVersion: 'TLSv1'`")
  holder[place] = dispatcher
  expect(() => dispatcherMustKeepFloor({ url })).toThrow("`the global dispatcher` has `minVersion: 'TLSv1'`")
})

describe.each([
  ['an agent of TLS 1.2', new Agent({ connect: strict })],
  ['a proxy agent of TLS 1.2', proxyAgent(strict)],
  ['an agent that names no version', new Agent({})],
  ['an agent that connects by itself', new Agent({ connect: () => {} })],
  ["a proxy agent of the environment's that cannot be looked into", envProxyAgent({})],
  ['something else', {}],
])('%s', (_what, dispatcher) => {
  test('passes, given or global', () => {
    expect(() => dispatcherMustKeepFloor({ url, dispatcher })).not.toThrow()
    holder[place] = dispatcher
    expect(() => dispatcherMustKeepFloor({ url })).not.toThrow()
  })

  test('is refused in a process that allows TLS 1.0, given or global', () => {
    holder[place] = dispatcher
    dispatcherMustKeepFloor({ url })
    tls.DEFAULT_MIN_VERSION = 'TLSv1'
    for (const given of [dispatcher, undefined])
      expect(() => dispatcherMustKeepFloor({ url, dispatcher: given })).toThrow(
        'this process allows TLS below 1.2',
      )
  })
})

test('a new global dispatcher is looked at', () => {
  dispatcherMustKeepFloor({ url })
  holder[place] = new Agent({ connect: lax })
  expect(() => dispatcherMustKeepFloor({ url })).toThrow('the global dispatcher')
})

test("a caller's own fetch may use another dispatcher than the global one, but not in a process that allows TLS 1.0", () => {
  holder[place] = new Agent({ connect: lax })
  dispatcherMustKeepFloor({ url, ownFetch: true })
  tls.DEFAULT_MIN_VERSION = 'TLSv1'
  expect(() => dispatcherMustKeepFloor({ url, ownFetch: true })).toThrow('this process allows')
})

test('http: has no TLS to look at', () => {
  tls.DEFAULT_MIN_VERSION = 'TLSv1'
  const dispatcher = new Agent({ connect: lax })
  expect(() => dispatcherMustKeepFloor({ url: 'http://localhost/', dispatcher })).not.toThrow()
})
