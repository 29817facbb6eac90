import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'

import { exchange, requestToken, tokenEndpoint } from '../../test/client.ts'
import { realms, type Realm } from '../realm.ts'
import { startSandbox, type Sandbox } from '../start-sandbox.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox()
})
afterEach(() => {
  sandbox.control.restoreIssuer()
  sandbox.control.resetCounts()
})
afterAll(() => sandbox.close())

const countsOf = (realm: Realm) => sandbox.control.counts().issuers[realm]

test.each(realms)('the %s issuer gives a token for 3600 seconds', async (realm) => {
  const { status, headers, json } = await requestToken(sandbox, realm)
  expect(status).toBe(200)
  expect(headers['content-type']).toMatch('application/json')
  expect(headers['cache-control']).toBe('no-store')
  expect(json).toMatchObject({ token_type: 'Bearer', expires_in: 3600 })
  expect(countsOf(realm)).toEqual({ requests: 1, issued: 1, refused: 0, failed: 0 })
})

test('general tokens are JWTs, weblink tokens are opaque', async () => {
  const [general, weblink] = await Promise.all(realms.map((realm) => requestToken(sandbox, realm)))
  expect(String(general?.json['access_token']).split('.')).toHaveLength(3)
  expect(String(weblink?.json['access_token'])).toMatch(/^[\w-]{43}$/)
})

test('the content type may have parameters', async () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }
  expect((await requestToken(sandbox, 'general', {}, { headers })).status).toBe(200)
})

test.each(realms)('a HEAD request at the %s issuer is no token request', async (realm) => {
  for (const path of ['/', new URL(tokenEndpoint(sandbox, realm)).pathname])
    await exchange(sandbox, new URL(path, tokenEndpoint(sandbox, realm)).href, { method: 'HEAD' })
  expect(countsOf(realm).requests).toBe(0)
  const heads = sandbox.control.journal().filter(({ method }) => method === 'HEAD')
  expect(heads.slice(-2).map(({ decision }) => decision)).toEqual(['answered', 'answered'])
  const evidence = sandbox.control.verdict().findings.flatMap((finding) => finding.evidence)
  for (const { id } of heads) expect(evidence).not.toContain(id)
})

test.each(realms)('the %s issuer refuses a body that is not a form', async (realm) => {
  const { clientId, clientSecret } = sandbox.credentials[realm]
  const form = { client_id: clientId, client_secret: clientSecret, grant_type: 'client_credentials' }
  const { status, json } = await exchange(sandbox, tokenEndpoint(sandbox, realm), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(form),
  })
  expect(status).toBe(400)
  expect(json['error']).toBe('invalid_request')
  expect(countsOf(realm)).toEqual({ requests: 1, issued: 0, refused: 1, failed: 0 })
})

test.each([
  ['no scope', undefined],
  ['another scope', 'Other'],
  ['a scope too many', 'WebLinkAPI Other'],
])('the weblink issuer refuses %s', async (_name, scope) => {
  const { status, json } = await requestToken(sandbox, 'weblink', { scope })
  expect(status).toBe(400)
  expect(json['error']).toBe('invalid_scope')
})

test('the general issuer has no scopes', async () => {
  const { status, json } = await requestToken(sandbox, 'general', { scope: 'WebLinkAPI' })
  expect(status).toBe(400)
  expect(json['error']).toBe('invalid_scope')
})

test.each(realms)('the %s issuer refuses a wrong secret with JSON, even to a browser', async (realm) => {
  const sent = { headers: { accept: 'text/html' } }
  const { status, headers, json } = await requestToken(sandbox, realm, { client_secret: 'wrong' }, sent)
  expect(status).toBe(401)
  expect(headers['content-type']).toMatch('application/json')
  expect(json['error']).toBe('invalid_client')
})

test.each(realms)('the %s issuer does not know the client of the other one', async (realm) => {
  const other = sandbox.credentials[realm === 'general' ? 'weblink' : 'general']
  const form = { client_id: other.clientId, client_secret: other.clientSecret }
  const { status, json } = await requestToken(sandbox, realm, form)
  expect(status).toBe(401)
  expect(json['error']).toBe('invalid_client')
})

test.each(realms)('the %s issuer refuses credentials in an Authorization header', async (realm) => {
  const { clientId, clientSecret } = sandbox.credentials[realm]
  const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
  const form = { client_id: undefined, client_secret: undefined }
  const { status, headers, json } = await requestToken(sandbox, realm, form, { headers: { authorization } })
  expect(status).toBe(401)
  expect(headers['www-authenticate']).toMatch(/^Basic /)
  expect(json['error']).toBe('invalid_client')
})

test('another grant type is refused', async () => {
  const { status, json } = await requestToken(sandbox, 'general', { grant_type: 'password' })
  expect(status).toBe(400)
  expect(json['error']).toBe('unsupported_grant_type')
})

test('a token endpoint takes POST only', async () => {
  const { status, headers } = await exchange(sandbox, tokenEndpoint(sandbox, 'general'))
  expect(status).toBe(405)
  expect(headers.allow).toBe('POST')
  expect(countsOf('general')).toEqual({ requests: 1, issued: 0, refused: 1, failed: 0 })
})

test('a path that is not the token endpoint is not found, and not a token request', async () => {
  const { status } = await exchange(sandbox, `${sandbox.authUrl}/IdentityServer/connect/token`, {
    method: 'POST',
  })
  expect(status).toBe(404)
  expect(countsOf('general').requests).toBe(0)
})

test('a failing issuer responds as it is set to, for that many requests', async () => {
  sandbox.control.failIssuer('general', { status: 503, retryAfter: 7, times: 2 })
  const first = await requestToken(sandbox, 'general')
  expect(first.status).toBe(503)
  expect(first.headers['retry-after']).toBe('7')
  expect(first.json['error']).toBe('temporarily_unavailable')
  expect((await requestToken(sandbox, 'general')).status).toBe(503)
  expect((await requestToken(sandbox, 'general')).status).toBe(200)
  expect(countsOf('general')).toEqual({ requests: 3, issued: 1, refused: 0, failed: 2 })
})

test('a failure may have a body of any kind', async () => {
  sandbox.control.failIssuer('weblink', {
    status: 502,
    body: '<h1>Bad gateway</h1>',
    contentType: 'text/html',
  })
  const page = await requestToken(sandbox, 'weblink')
  expect(page.headers['content-type']).toBe('text/html')
  expect(page.text).toBe('<h1>Bad gateway</h1>')
  sandbox.control.failIssuer('weblink', { status: 200, body: { access_token: 7 } })
  expect((await requestToken(sandbox, 'weblink')).json).toEqual({ access_token: 7 })
})

test('a failure of one issuer leaves the other alone', async () => {
  sandbox.control.failIssuer('general', { status: 500 })
  expect((await requestToken(sandbox, 'weblink')).status).toBe(200)
})

test('a killed issuer cuts the connection, and counts the request', async () => {
  sandbox.control.killIssuer('general')
  await expect(requestToken(sandbox, 'general')).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect(countsOf('general')).toEqual({ requests: 1, issued: 0, refused: 0, failed: 1 })
  sandbox.control.restoreIssuer('general')
  expect((await requestToken(sandbox, 'general')).status).toBe(200)
})

test('a kill may be for some requests or for some time', async () => {
  sandbox.control.killIssuer('general', { times: 1 })
  await expect(requestToken(sandbox, 'general')).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect((await requestToken(sandbox, 'general')).status).toBe(200)
  sandbox.control.killIssuer('general', { for: 0 })
  expect((await requestToken(sandbox, 'general')).status).toBe(200)
})

test('a slow issuer takes its time', async () => {
  sandbox.control.slowIssuer('general', 40)
  const start = performance.now()
  expect((await requestToken(sandbox, 'general')).status).toBe(200)
  expect(performance.now() - start).toBeGreaterThanOrEqual(39)
})

test('a slow issuer gives no token to a client that left', async () => {
  sandbox.control.slowIssuer('general', 150)
  const leaving = new AbortController()
  const left = requestToken(sandbox, 'general', {}, { signal: leaving.signal }).catch((error: Error) => error)
  await vi.waitUntil(() => countsOf('general').requests === 1, { interval: 1 })
  leaving.abort()
  expect(await left).toMatchObject({ code: 'ABORT_ERR' })
  await vi.waitUntil(() => countsOf('general').failed === 1)
  expect(countsOf('general')).toEqual({ requests: 1, issued: 0, refused: 0, failed: 1 })
})
