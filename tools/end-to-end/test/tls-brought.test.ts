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

import { oldCiphers, startTlsServers, type TlsServers } from './tls/tls-servers.ts'

// What a caller brings, in a process that keeps to TLS 1.2 otherwise.

type Way = (tokens?: TokenManager) => (url: string) => Promise<unknown>

const lax = { minVersion: 'TLSv1', ciphers: oldCiphers } as const
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
  ['axios: http2Options', axiosWith({ httpVersion: 2, http2Options: lax }), '`http2Options` has `minVersion'],
  ['got: https.minVersion', gotWith({ https: lax }), "`https` has `minVersion: 'TLSv1'`"],
  ['got: agent.https', gotWith({ agent: { https: new Agent(lax) } }), '`agent.https` has `minVersion'],
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
    ['ky', kyWith({})],
  ])('%s is refused with the fix before a token is asked for', async (_what, way) => {
    const message = await refusedBy(way(tokens)(`${servers.urls['TLSv1.2']}api/records`))
    expect(message).toContain('start Node without `--tls-min-v1.0`')
    expect(asked).toBe(0)
    await way()(`${servers.urls['TLSv1.2']}api/records`)
  })

  test('no token manager can be created', () => {
    expect(() => managerWith(undefined)).toThrow(
      expect.objectContaining({
        code: 'INSECURE_TRANSPORT',
        message: expect.stringMatching(
          /^Cannot create token manager: .*start Node without `--tls-min-v1.0`/,
        ) as string,
      }),
    )
  })
})
