import tls from 'node:tls'
import { startSandbox, type Sandbox } from '@tokenlane/sandbox'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createTokenManager, generalIssuer, type TokenManager, weblinkIssuer } from '../src/index.ts'
import { patient, plainGet } from './plain-get.ts'

// The real thing: both issuers of the sandbox, over TLS.

let sandbox: Sandbox
const trusted = tls.getCACertificates('default')
beforeAll(async () => {
  sandbox = await startSandbox()
  tls.setDefaultCACertificates([...trusted, sandbox.ca])
})
afterAll(() => sandbox.close())
beforeEach(() => {
  sandbox.control.restoreIssuer()
  sandbox.control.resetCounts()
})

function manager(maxWait: number = patient.maxWait): TokenManager {
  return createTokenManager({
    issuers: {
      general: generalIssuer({
        authUrl: sandbox.authUrl,
        credentials: () => sandbox.credentials.general,
        ...patient,
        maxWait,
      }),
      weblink: weblinkIssuer({
        authUrl: sandbox.weblinkAuthUrl,
        credentials: () => sandbox.credentials.weblink,
        ...patient,
        maxWait,
      }),
    },
    apis: [
      { baseUrl: sandbox.apiUrl, issuer: 'general' },
      { baseUrl: sandbox.weblinkUrl, issuer: 'weblink' },
    ],
  })
}

async function statusOf(tokens: TokenManager, url: string): Promise<number | undefined> {
  return tokens.route(url)?.send((authorization) => plainGet(url, authorization))
}

test('each API takes the tokens of its own issuer', async () => {
  await using tokens = manager()
  await expect(statusOf(tokens, `${sandbox.apiUrl}records`)).resolves.toBe(200)
  await expect(statusOf(tokens, `${sandbox.weblinkUrl}records`)).resolves.toBe(200)
})

// each is a TLS handshake
const calls = process.env['TESTS'] === 'all' ? 1_000 : 100

test(`${calls} calls in flight at a revocation cost one renewal per issuer, and none is lost`, async () => {
  await using tokens = manager()
  await tokens.warmUp()
  const urls = [`${sandbox.apiUrl}slow?ms=20`, `${sandbox.weblinkUrl}slow?ms=20`]
  const started: Promise<number | undefined>[] = []
  for (let call = 0; call < calls; call += 1) started.push(statusOf(tokens, urls[call % 2] ?? ''))
  sandbox.control.revokeTokens()
  expect(new Set(await Promise.all(started))).toEqual(new Set([200]))
  const { issuers, apis } = sandbox.control.counts()
  expect([issuers.general.requests, issuers.weblink.requests]).toEqual([2, 2])
  expect(apis.general.rejected + apis.weblink.rejected).toBe(calls)
})

test('a secret that is rotated without overlap loses no call', async () => {
  await using tokens = manager()
  await tokens.warmUp()
  sandbox.control.rotateSecret('general')
  sandbox.control.expireTokens('general')
  await expect(statusOf(tokens, `${sandbox.apiUrl}records`)).resolves.toBe(200)
  expect(sandbox.control.counts().issuers.general).toMatchObject({ requests: 2, refused: 0 })
})

test('an issuer that cuts the connection twice loses no call', async () => {
  await using tokens = manager()
  sandbox.control.killIssuer('weblink', { times: 2 })
  await expect(statusOf(tokens, `${sandbox.weblinkUrl}records`)).resolves.toBe(200)
  expect(sandbox.control.counts().issuers.weblink).toMatchObject({ requests: 3, failed: 2 })
})

test('the errors of a real transport tell their code', async () => {
  await using tokens = manager(1_000)
  sandbox.control.killIssuer('general')
  await expect(tokens.getToken('general')).rejects.toMatchObject({
    code: 'TOKEN_REQUEST_FAILED',
    transportCode: expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/),
  })
})

test('a wrong secret is refused by name, and costs one request', async () => {
  const { clientId } = sandbox.credentials.general
  await using tokens = createTokenManager({
    issuers: {
      general: generalIssuer({
        authUrl: sandbox.authUrl,
        credentials: { clientId, clientSecret: 'a-secret-that-is-wrong' },
      }),
    },
    apis: [],
  })
  for (let call = 0; call < 3; call += 1)
    await expect(tokens.getToken('general')).rejects.toMatchObject({
      code: 'TOKEN_REQUEST_REFUSED',
      oauthError: 'invalid_client',
    })
  expect(sandbox.control.counts().issuers.general.requests).toBe(1)
})
