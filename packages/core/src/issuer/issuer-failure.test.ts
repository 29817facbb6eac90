import { once } from 'node:events'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'
import { generate } from 'selfsigned'
import { afterEach, expect, test } from 'vitest'
import { client } from '../../test/fake-issuer.ts'
import { createTokenManager } from '../index.ts'

const day = 86_400_000
const trusted = tls.getCACertificates()
let server: https.Server

afterEach(async () => {
  tls.setDefaultCACertificates(trusted)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
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
