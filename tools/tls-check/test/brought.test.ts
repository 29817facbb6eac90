import { Agent, globalAgent } from 'node:https'
import tls from 'node:tls'

import { attachTokens } from '@tokenlane/axios'
import { createTokenManager, type TokenManager } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import { gotTokens } from '@tokenlane/got'
import { kyTokens } from '@tokenlane/ky'
import axios, { type CreateAxiosDefaults } from 'axios'
import got, { type ExtendOptions } from 'got'
import ky from 'ky'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

import { oldCiphers, startTlsServers, type TlsServers } from '../src/tls-servers.ts'

// What a caller brings, in a process that keeps to TLS 1.2 otherwise.

type Way = (tokens?: TokenManager) => (url: string) => Promise<unknown>

/** The symbol that the runtime's `fetch` looks under, and the class of its dispatcher. */
const place = Symbol.for(
  `undici.globalDispatcher.${Number.parseInt(process.versions['undici'] ?? '', 10) >= 8 ? 2 : 1}`,
)
const holder = (globalThis.Response, globalThis) as unknown as Record<symbol, object>
const standard = holder[place] as object
const Dispatcher = standard.constructor as new (options: object) => object

const lax = { minVersion: 'TLSv1', ciphers: oldCiphers } as const
const dispatcher = new Dispatcher({ connect: lax })
const trusted = tls.getCACertificates('default')

let servers: TlsServers
let asked: number
let tokens: TokenManager

beforeAll(async () => {
  servers = await startTlsServers()
  tls.setDefaultCACertificates([...trusted, servers.ca])
})

afterAll(async () => {
  tls.setDefaultCACertificates(trusted)
  await servers[Symbol.asyncDispose]()
})

beforeEach(() => {
  asked = 0
  tokens = managerWith(async () => {
    asked += 1
    return Response.json({ access_token: 'token-of-this-test', token_type: 'Bearer', expires_in: 3600 })
  })
})

afterEach(() => {
  vi.restoreAllMocks()
  holder[place] = standard
  for (const option of ['minVersion', 'ciphers'] as const) delete globalAgent.options[option]
})

function managerWith(
  fetch: typeof globalThis.fetch | undefined,
  issuerUrl = 'https://auth.example.com/',
): TokenManager {
  return createTokenManager({
    issuers: {
      general: { tokenEndpoint: `${issuerUrl}token`, credentials: { clientId: 'a', clientSecret: 'b' } },
    },
    apis: Object.values(servers.urls).map((url) => ({ baseUrl: `${url}api/`, issuer: 'general' as const })),
    fetch,
  })
}

const api = (): string => `${servers.urls.TLSv1}api/records`

const axiosWith =
  (options: CreateAxiosDefaults): Way =>
  (manager) => {
    const client = axios.create(options)
    if (manager) attachTokens(client, manager)
    return (url) => client.get(url)
  }
const gotWith =
  (options: ExtendOptions): Way =>
  (manager) => {
    const client = got.extend({ retry: { limit: 0 }, ...options })
    return (url) => (manager ? client.extend(gotTokens(manager)) : client)(url).text()
  }
const fetchWith =
  (init: object): Way =>
  (manager) =>
  async (url) =>
    (await (manager ? createFetch(manager) : fetch)(url, init)).text()
const kyWith =
  (options: object): Way =>
  (manager) => {
    const client = ky.extend({ retry: 0, ...options })
    return (url) => (manager ? client.extend(kyTokens(manager)) : client)(url).text()
  }

async function refusedBy(call: Promise<unknown>): Promise<string> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toMatchObject({ name: 'TokenlaneError', code: 'INSECURE_TRANSPORT' })
  return (error as Error).message
}

describe.each<[string, Way, string]>([
  ['axios: httpsAgent', axiosWith({ httpsAgent: new Agent(lax) }), "`httpsAgent` has `minVersion: 'TLSv1'`"],
  [
    'axios: the protocol of an httpsAgent',
    axiosWith({ httpsAgent: new Agent({ secureProtocol: 'TLS_method', ciphers: oldCiphers }) }),
    "`httpsAgent` has `secureProtocol: 'TLS_method'`",
  ],
  [
    'axios: the context of an httpsAgent',
    axiosWith({
      get httpsAgent() {
        return new Agent({ secureContext: tls.createSecureContext({ ...lax, ca: servers.ca }) })
      },
    }),
    '`httpsAgent` has a `secureContext` for older versions',
  ],
  ['axios: http2Options', axiosWith({ httpVersion: 2, http2Options: lax }), '`http2Options` has `minVersion'],
  [
    "axios: dispatcher of adapter: 'fetch'",
    axiosWith({ adapter: 'fetch', fetchOptions: { dispatcher } as object }),
    '`dispatcher` has `minVersion',
  ],
  ['got: https.minVersion', gotWith({ https: lax }), "`https` has `minVersion: 'TLSv1'`"],
  ['got: agent.https', gotWith({ agent: { https: new Agent(lax) } }), '`agent.https` has `minVersion'],
  ['fetch: dispatcher', fetchWith({ dispatcher }), '`dispatcher` has `minVersion'],
  ['ky: dispatcher', kyWith({ dispatcher }), '`dispatcher` has `minVersion'],
])('%s', (_what, way, reason) => {
  test('reaches a server of TLS 1.0 without tokens, and where no API is', async () => {
    await way()(api())
    await way(tokens)(`${servers.urls.TLSv1}elsewhere`)
    expect(asked).toBe(0)
  })

  test('is refused by name before a token is asked for', async () => {
    const message = await refusedBy(way(tokens)(api()))
    expect(message.startsWith(`Cannot send call: ${reason}`)).toBe(true)
    expect(message).toContain('; allowed: TLSv1.2 or later')
    expect(asked).toBe(0)
  })
})

test.each<[string, Way]>([
  ['axios', axiosWith({})],
  ['got', gotWith({})],
])('%s is refused with a global agent that allows TLS 1.0', async (_client, way) => {
  Object.assign(globalAgent.options, lax)
  await way()(api())
  expect(await refusedBy(way(tokens)(api()))).toContain("`https.globalAgent` has `minVersion: 'TLSv1'`")
  expect(asked).toBe(0)
})

describe('with a global dispatcher that allows TLS 1.0', () => {
  beforeEach(() => {
    holder[place] = dispatcher
  })

  test.each<[string, Way]>([
    ['fetch', fetchWith({})],
    ['ky', kyWith({})],
    ["axios' fetch adapter", axiosWith({ adapter: 'fetch' })],
  ])('%s is refused', async (_client, way) => {
    await way()(api())
    expect(await refusedBy(way(tokens)(api()))).toContain("`the global dispatcher` has `minVersion: 'TLSv1'`")
    expect(asked).toBe(0)
  })

  test('a token request is refused', async () => {
    const { urls } = servers
    const message = await refusedBy(managerWith(undefined, urls['TLSv1.3']).getToken('general'))
    expect(message).toContain(
      `issuer "general" (${new URL('token', urls['TLSv1.3']).href}) was sent no request`,
    )
    expect(message).toContain("`the global dispatcher` has `minVersion: 'TLSv1'`")
  })

  test('a fetch of your own is trusted to use another one', async () => {
    const own: typeof fetch = (input, init = {}) =>
      fetch(input, { ...init, dispatcher: standard } as RequestInit)
    await expect(managerWith(own, servers.urls.TLSv1).getToken('general')).rejects.toMatchObject({
      code: 'INSECURE_TRANSPORT',
      cause: { code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' },
    })
    await managerWith(own, servers.urls['TLSv1.2']).getToken('general')
    await expect(createFetch(tokens, { fetch: own })(api())).rejects.toThrow('fetch failed')
    expect((await createFetch(tokens, { fetch: own })(`${servers.urls['TLSv1.2']}api/records`)).ok).toBe(true)
  })
})

describe('where the process allows TLS 1.0', () => {
  beforeEach(() => {
    const before = tls.DEFAULT_MIN_VERSION
    tls.DEFAULT_MIN_VERSION = 'TLSv1'
    return () => {
      tls.DEFAULT_MIN_VERSION = before
    }
  })

  const strict = { minVersion: 'TLSv1.2' } as const
  test.each<[string, Way]>([
    ['axios', axiosWith({})],
    ['axios: httpsAgent of TLS 1.2', axiosWith({ httpsAgent: new Agent(strict) })],
    ['axios: http2Options of TLS 1.2', axiosWith({ httpVersion: 2, http2Options: strict })],
    ["axios' fetch adapter", axiosWith({ adapter: 'fetch' })],
    ['got', gotWith({})],
    ['got: https.minVersion of TLS 1.2', gotWith({ https: strict })],
    ['got: agent.https of TLS 1.2', gotWith({ agent: { https: new Agent(strict) } })],
    ['fetch', fetchWith({})],
    ['fetch: dispatcher of TLS 1.2', fetchWith({ dispatcher: new Dispatcher({ connect: strict }) })],
    ['ky', kyWith({})],
    ['ky: dispatcher of TLS 1.2', kyWith({ dispatcher: new Dispatcher({ connect: strict }) })],
  ])('%s is refused with the fix before a token is asked for', async (_what, way) => {
    const message = await refusedBy(way(tokens)(`${servers.urls['TLSv1.2']}api/records`))
    expect(message).toContain('Start Node without `--tls-min-v1.0`')
    expect(asked).toBe(0)
    await way()(`${servers.urls['TLSv1.2']}api/records`)
  })

  test('no token manager can be created', () => {
    expect(() => managerWith(undefined)).toThrow(
      expect.objectContaining({
        code: 'INSECURE_TRANSPORT',
        message: expect.stringMatching(
          /^Cannot create token manager: .*Start Node without `--tls-min-v1.0`/,
        ) as string,
      }),
    )
  })
})
