import { once } from 'node:events'
import { createServer } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'

import { generate } from 'selfsigned'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'

import { client, fakeService } from '../../test/fake-issuer.ts'
import { createTokenManager, type TokenlaneEvent } from '../index.ts'

const day = 86_400_000
const trusted = tls.getCACertificates()
let server: https.Server | undefined

afterEach(async () => {
  tls.setDefaultCACertificates(trusted)
  server?.closeAllConnections()
  await new Promise<unknown>((resolve) => (server ? server.close(resolve) : resolve(undefined)))
  server = undefined
})

test.each([
  ['expired', -10, -1, 'has expired', 'CERT_HAS_EXPIRED'],
  ['not yet valid', 1, 10, 'is not yet valid', 'CERT_NOT_YET_VALID'],
])(
  'a certificate that is %s is reported, and the clock is asked about',
  async (_what, from, until, words, code) => {
    const at = (days: number): Date => new Date(Date.now() + days * day)
    const pair = await generate([{ name: 'commonName', value: 'localhost' }], {
      notBeforeDate: at(from),
      notAfterDate: at(until),
    })
    tls.setDefaultCACertificates([pair.cert])
    server = https.createServer({ key: pair.private, cert: pair.cert }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const tokens = createTokenManager({
      issuers: { general: { tokenEndpoint: `https://localhost:${port}/token`, credentials: client } },
      apis: [],
    })
    const error: unknown = await tokens.getToken('general').catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'TOKEN_REQUEST_FAILED', definite: true, transportCode: code })
    const today = new Date().toISOString().slice(0, 10)
    expect(String(error)).toContain(
      `presented a certificate that ${words} (${code}): is this machine's clock (${today}) right?`,
    )
  },
)

test('a port that does not speak TLS is told in words', async () => {
  const plain = createServer((_, response) => response.end()).listen(0, '127.0.0.1')
  onTestFinished(() => void plain.close())
  await once(plain, 'listening')
  const { port } = plain.address() as AddressInfo
  const told = Promise.withResolvers<TokenlaneEvent>()
  const tokens = createTokenManager({
    issuers: { general: { tokenEndpoint: `https://127.0.0.1:${port}/token`, credentials: client } },
    apis: [],
    observe: told.resolve,
  })
  const end = new AbortController()
  const token = tokens.getToken('general', { signal: end.signal }).catch(() => {})
  expect(await told.promise).toMatchObject({
    type: 'renewal.failed',
    reason: expect.stringContaining(
      'could not be reached (ERR_SSL_WRONG_VERSION_NUMBER): this port does not speak TLS, check the URL',
    ) as string,
  })
  end.abort()
  await token
  await tokens.close()
})

const url = 'https://auth.example.com/public/security/v1/token'
const coded = (code: string, message: string, more = {}): Error =>
  Object.assign(new Error(message), { code, ...more })
const inFetch = (cause: Error): Error => new TypeError('fetch failed', { cause })

test.each([
  [
    "undici's MockAgent",
    inFetch(coded('UND_MOCK_ERR_MOCK_NOT_MATCHED', `Mock dispatch not matched for path '/token'`)),
    `Mock dispatch not matched for path '/token'`,
  ],
  [
    "undici's MockAgent, about a body",
    inFetch(
      coded(
        'UND_MOCK_ERR_MOCK_NOT_MATCHED',
        `Mock dispatch not matched for body 'client_secret=secret-1' on path '/t'`,
      ),
    ),
    'Mock dispatch not matched',
  ],
  [
    'nock without the net',
    coded('ENETUNREACH', `Nock: Disallowed net connect for "${url}"`, { name: 'NetConnectNotAllowedError' }),
    `Nock: Disallowed net connect for "${url}"`,
  ],
  [
    'nock without a match',
    inFetch(
      coded('ERR_NOCK_NO_MATCH', `Nock: No match for request {\n  "body": "client_secret=secret-1"\n}`),
    ),
    'Nock: No match for request',
  ],
  [
    'msw',
    inFetch(
      new Error(
        '[MSW] Cannot bypass a request when using the "error" strategy for the "onUnhandledRequest" option.',
      ),
    ),
    '[MSW] Cannot bypass a request',
  ],
])('%s that refuses a token request is quoted at once, without a secret', async (_what, refusal, quoted) => {
  vi.useFakeTimers()
  const { tokens, issuer } = fakeService()
  issuer.respondWith(() => refusal)
  const error: unknown = await tokens.getToken('general').catch((thrown: unknown) => thrown)
  vi.useRealTimers()
  expect(error).toMatchObject({ code: 'TOKEN_REQUEST_FAILED', definite: true })
  expect((error as Error).message).toContain(quoted)
  expect((error as Error).message).not.toContain('secret-1')
  expect(client).toMatchObject({ clientSecret: 'secret-1' })
  expect(issuer.count).toBe(1)
})
