import { once } from 'node:events'
import { createServer } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'
import { generate } from 'selfsigned'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { client } from '../../test/fake-issuer.ts'
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
      'could not be reached (ERR_SSL_WRONG_VERSION_NUMBER): this port does not speak TLS; is the URL right?',
    ) as string,
  })
  end.abort()
  await token
  await tokens.close()
})
