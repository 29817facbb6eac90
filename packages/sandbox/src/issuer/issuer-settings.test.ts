import { createPrivateKey } from 'node:crypto'

import { SignJWT } from 'jose'
import { afterEach, expect, test } from 'vitest'

import { callApi, exchange, type Received } from '../../test/client.ts'
import { startSandbox, type Sandbox } from '../start-sandbox.ts'
import type { IssuerSettings } from './issuer-settings.ts'

let sandbox: Sandbox
afterEach(() => sandbox.close())

async function startWith(general: IssuerSettings): Promise<Sandbox> {
  sandbox = await startSandbox({ issuers: { general } })
  return sandbox
}

const rulesBroken = (): string[] => sandbox.control.verdict().findings.map(({ rule }) => rule)
const reason = (): string | undefined => sandbox.control.journal({ limit: 1 })[0]?.reason

/** A token request to the general issuer with these form fields. */
function request(fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Received> {
  return exchange(sandbox, sandbox.control.state().issuers.general.tokenEndpoint, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', ...fields }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  })
}

const basic = (id: string, secret: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
})

interface Assertion {
  audience?: string
  keyId?: string
  credentials?: Sandbox['keyCredentials']['general']
}

/** The form fields of a client that proves itself by a signed assertion. */
async function asserted({
  audience = sandbox.authUrl,
  credentials = sandbox.keyCredentials.general,
  keyId = credentials.keyId,
}: Assertion = {}): Promise<Record<string, string>> {
  const { clientId, privateKey } = credentials
  const assertion = await new SignJWT()
    .setProtectedHeader({ alg: 'ES256', kid: keyId })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(audience)
    .setJti(crypto.randomUUID())
    .setExpirationTime('1m')
    .sign(createPrivateKey(privateKey))
  return {
    client_id: clientId,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
  }
}

test('without settings an issuer is as strict as the service is', async () => {
  await startWith({})
  const { clientId, clientSecret } = sandbox.credentials.general
  expect((await request({}, basic(clientId, clientSecret))).status).toBe(401)
  expect((await request(await asserted())).status).toBe(401)
  for (const path of ['oauth-authorization-server', 'openid-configuration'])
    expect((await exchange(sandbox, `${sandbox.authUrl}/.well-known/${path}`)).status).toBe(404)
  expect(reason()).toBe('no metadata: this issuer is set up without it (option --metadata)')
  const { findings } = sandbox.control.verdict()
  expect(findings.find(({ rule }) => rule === 'no-metadata')).toMatchObject({
    severity: 'warning',
    message: '2 requests asked for metadata that the issuer does not publish',
    fix: expect.stringContaining('Start the sandbox with --metadata') as string,
  })
  expect(rulesBroken()).not.toContain('token-request')
  expect((await request({ client_id: clientId, client_secret: clientSecret })).status).toBe(200)
})

test.each(['oauth-authorization-server', 'openid-configuration'])(
  'metadata is at %s, and is no token request',
  async (path) => {
    await startWith({ metadata: true, clientAuthentication: 'private_key_jwt', scope: 'read write' })
    const { status, json } = await exchange(sandbox, `${sandbox.authUrl}/.well-known/${path}`)
    expect(status).toBe(200)
    expect(json).toEqual({
      issuer: sandbox.authUrl,
      token_endpoint: `${sandbox.authUrl}/public/security/v1/token`,
      jwks_uri: `${sandbox.authUrl}/jwks`,
      token_endpoint_auth_methods_supported: ['private_key_jwt'],
      token_endpoint_auth_signing_alg_values_supported: ['ES256'],
      grant_types_supported: ['client_credentials'],
      response_types_supported: [],
      scopes_supported: ['read', 'write'],
    })
    expect(sandbox.control.counts().issuers.general).toEqual({
      requests: 0,
      issued: 0,
      refused: 0,
      failed: 0,
    })
    expect(reason()).toBe("the issuer's metadata")
    expect(rulesBroken()).toEqual([])
  },
)

test('requests for metadata meet the faults of their issuer, and many at once are no stampede', async () => {
  await startWith({ metadata: true })
  const url = `${sandbox.authUrl}/.well-known/oauth-authorization-server`
  sandbox.control.failIssuer('general', { status: 503, times: 3 })
  for (let look = 0; look < 3; look += 1) expect((await exchange(sandbox, url)).status).toBe(503)
  sandbox.control.slowIssuer('general', 50)
  await Promise.all([1, 2, 3].map(() => exchange(sandbox, url)))
  expect(rulesBroken()).toEqual([])
})

test('client_secret_basic takes the secret in the header only, and names what is wrong', async () => {
  await startWith({ clientAuthentication: 'client_secret_basic' })
  const { clientId, clientSecret } = sandbox.credentials.general
  const { status, json } = await request({}, basic(clientId, clientSecret))
  expect(status).toBe(200)
  expect((await callApi(sandbox, 'general', { token: json['access_token'] as string })).status).toBe(200)
  expect(rulesBroken()).toEqual([])

  expect((await request({ client_id: clientId, client_secret: clientSecret })).status).toBeGreaterThanOrEqual(
    400,
  )
  expect(reason()).toBe('credentials in the form: they belong in an Authorization header')
  expect((await request({}, basic(clientId, 'wrong'))).status).toBe(401)
  expect(reason()).toBe('a wrong client_secret')
  expect((await request({}, basic('other', clientSecret))).status).toBe(401)
  expect(reason()).toBe('unknown client_id: the general issuer expects another one')
  expect((await request({}, { authorization: 'Basic %' })).status).toBeGreaterThanOrEqual(400)
  expect(reason()).toBe('no client_id in the Authorization header')
  expect(rulesBroken()).toEqual(['client-authentication'])

  sandbox.control.clearJournal()
  sandbox.control.rotateSecret('general')
  await request({}, basic(clientId, clientSecret))
  expect(reason()).toBe('a secret that was rotated out')
  expect(rulesBroken()).toEqual([])
})

test('private_key_jwt takes an assertion of the registered key for this issuer', async () => {
  await startWith({ clientAuthentication: 'private_key_jwt' })
  const { tokenEndpoint } = sandbox.control.state().issuers.general
  for (const audience of [sandbox.authUrl, tokenEndpoint]) {
    expect((await request(await asserted({ audience }))).status).toBe(200)
    sandbox.control.expireTokens()
  }
  expect(rulesBroken()).toEqual([])

  const { clientId, clientSecret } = sandbox.credentials.general
  expect((await request({ client_id: clientId, client_secret: clientSecret })).status).toBeGreaterThanOrEqual(
    400,
  )
  expect(reason()).toBe('no client_assertion in the form')
  expect((await request(await asserted({ audience: 'https://other.example.com' }))).status).toBe(401)
  expect(reason()).toMatch(/^client_assertion refused: audience \(aud\) must equal /)
  expect((await request(await asserted({ keyId: 'other' }))).status).toBe(401)
  expect(reason()).toBe('a client_assertion with an unknown key id')
  expect(rulesBroken()).toEqual(['client-authentication'])
})

test('a key is rotated as a secret is', async () => {
  await startWith({ clientAuthentication: 'private_key_jwt' })
  const before = sandbox.keyCredentials.general
  sandbox.control.rotateSecret('general', { overlap: true })
  const after = sandbox.keyCredentials.general
  expect(after.keyId).not.toBe(before.keyId)
  for (const credentials of [before, after])
    expect((await request(await asserted({ credentials }))).status).toBe(200)
  sandbox.control.clearJournal()
  sandbox.control.dropOldSecrets('general')
  expect((await request(await asserted({ credentials: before }))).status).toBe(401)
  expect(reason()).toBe('a key that was rotated out')
  expect(rulesBroken()).toEqual([])
})

test('the environment has what the method needs, on one line each', async () => {
  await startWith({ clientAuthentication: 'private_key_jwt' })
  const environment = sandbox.control.environment()
  const { clientId, privateKey, keyId } = sandbox.keyCredentials.general
  expect(environment).toMatchObject({ GENERAL_CLIENT_ID: clientId, GENERAL_KEY_ID: keyId })
  expect(environment['GENERAL_PRIVATE_KEY']?.replaceAll('\\n', '\n')).toBe(privateKey.trim())
  expect(environment['GENERAL_PRIVATE_KEY']).not.toContain('\n')
  expect(environment).not.toHaveProperty('GENERAL_CLIENT_SECRET')
  expect(environment).toHaveProperty('WEBLINK_CLIENT_SECRET')
})

test('a path and scopes of one’s own replace those of the service', async () => {
  await startWith({ tokenPath: '/oauth2/token', scope: 'read write' })
  const { clientId: client_id, clientSecret: client_secret } = sandbox.credentials.general
  expect(sandbox.control.state().issuers.general.tokenEndpoint).toBe(`${sandbox.authUrl}/oauth2/token`)
  expect((await request({ client_id, client_secret, scope: 'write read' })).status).toBe(200)
  expect((await request({ client_id, client_secret, scope: 'read' })).status).toBe(400)
  expect((await request({ client_id, client_secret })).json['error']).toBe('invalid_scope')
})

test('wrong settings are refused by name', async () => {
  await startWith({})
  await expect(startSandbox({ issuers: { general: { tokenPath: 'token' } } })).rejects.toThrow(
    '"issuers.general.tokenPath" must be a path such as /oauth2/token',
  )
  const unknown = { clientAuthentication: 'tls_client_auth' as never }
  await expect(startSandbox({ issuers: { weblink: unknown } })).rejects.toThrow(
    `"issuers.weblink.clientAuthentication" must be 'client_secret_post' or 'client_secret_basic' or 'private_key_jwt'`,
  )
})
