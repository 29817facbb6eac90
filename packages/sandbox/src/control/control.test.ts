import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { callApi, requestToken, tokenOf } from '../../test/client.ts'
import type { SandboxControl } from './control.ts'
import { realms } from '../realm.ts'
import { startSandbox, type Sandbox } from '../start-sandbox.ts'

let sandbox: Sandbox
let control: SandboxControl
beforeAll(async () => {
  sandbox = await startSandbox()
  control = sandbox.control
})
afterEach(() => {
  control.restoreIssuer()
  control.restoreApi()
  control.setTokenLifetime(3_600_000)
  control.resetCounts()
})
afterAll(() => sandbox.close())

test.each(realms)('an expired %s token is refused, a new one is good', async (realm) => {
  const token = await tokenOf(sandbox, realm)
  expect((await callApi(sandbox, realm, { token })).status).toBe(200)
  control.expireTokens()
  const refused = await callApi(sandbox, realm, { token })
  expect(refused.status).toBe(401)
  expect(refused.headers['www-authenticate']).toBe('Bearer error="invalid_token"')
  expect(refused.json['detail']).toBe('The access token expired')
  expect((await callApi(sandbox, realm, { token: await tokenOf(sandbox, realm) })).status).toBe(200)
})

test.each(realms)('a revoked %s token is refused, a new one is good', async (realm) => {
  const token = await tokenOf(sandbox, realm)
  control.revokeTokens(realm)
  const refused = await callApi(sandbox, realm, { token })
  expect(refused.status).toBe(401)
  expect(refused.json['detail']).toBe('The access token was revoked')
  expect((await callApi(sandbox, realm, { token: await tokenOf(sandbox, realm) })).status).toBe(200)
})

test('tokens of one issuer can be expired alone', async () => {
  const [general, weblink] = await Promise.all([tokenOf(sandbox, 'general'), tokenOf(sandbox, 'weblink')])
  control.expireTokens('weblink')
  expect((await callApi(sandbox, 'general', { token: general })).status).toBe(200)
  expect((await callApi(sandbox, 'weblink', { token: weblink })).status).toBe(401)
})

test('a lifetime of one issuer leaves the other’s as it is', async () => {
  control.setTokenLifetime(1_500, 'weblink')
  expect((await requestToken(sandbox, 'weblink')).json['expires_in']).toBe(1.5)
  expect((await requestToken(sandbox, 'general')).json['expires_in']).toBe(3600)
})

test.each(realms)('a %s token ends after its lifetime, not a second later', async (realm) => {
  control.setTokenLifetime(60)
  const requestedAt = performance.now()
  const token = await tokenOf(sandbox, realm)
  const receivedAt = performance.now()
  let sentAt = receivedAt
  while ((await callApi(sandbox, realm, { token })).status === 200) sentAt = performance.now()
  expect(performance.now() - requestedAt).toBeGreaterThanOrEqual(60)
  // the last call that was good had left before the token's end
  expect(sentAt - receivedAt).toBeLessThan(1_000)
})

test.each(realms)(
  'a JWT or not, a %s token with a long lifetime outlives one with a short one',
  async (realm) => {
    const long = await tokenOf(sandbox, realm)
    control.setTokenLifetime(1)
    const short = await tokenOf(sandbox, realm)
    while ((await callApi(sandbox, realm, { token: short })).status === 200);
    expect((await callApi(sandbox, realm, { token: long })).status).toBe(200)
  },
)

test.each(realms)('the %s secret is rotated without overlap', async (realm) => {
  const old = sandbox.credentials[realm]
  const token = await tokenOf(sandbox, realm)
  const rotated = control.rotateSecret(realm)
  expect(rotated).toEqual(sandbox.credentials[realm])
  expect(rotated.clientId).toBe(old.clientId)
  const refused = await requestToken(sandbox, realm, { client_secret: old.clientSecret })
  expect(refused.status).toBe(401)
  expect(refused.json['error']).toBe('invalid_client')
  expect((await requestToken(sandbox, realm)).status).toBe(200)
  expect((await callApi(sandbox, realm, { token })).status).toBe(200)
})

test('with overlap both secrets work until the old one is dropped', async () => {
  const old = sandbox.credentials.general.clientSecret
  control.rotateSecret('general', { overlap: true })
  expect((await requestToken(sandbox, 'general', { client_secret: old })).status).toBe(200)
  expect((await requestToken(sandbox, 'general')).status).toBe(200)
  control.dropOldSecrets('general')
  expect((await requestToken(sandbox, 'general', { client_secret: old })).status).toBe(401)
  expect((await requestToken(sandbox, 'general')).status).toBe(200)
})

test('a failing API answers as told, then serves again', async () => {
  const token = await tokenOf(sandbox, 'general')
  control.failApi('general', { status: 503, retryAfter: 'Sun, 06 Nov 1994 08:49:37 GMT', times: 1 })
  const failed = await callApi(sandbox, 'general', { token })
  expect(failed.status).toBe(503)
  expect(failed.headers['retry-after']).toBe('Sun, 06 Nov 1994 08:49:37 GMT')
  expect((await callApi(sandbox, 'general', { token })).status).toBe(200)
  expect(control.counts().apis.general).toMatchObject({ calls: 2, answered: 1, failed: 1 })
})

test('an API can refuse every token, and be restored', async () => {
  const token = await tokenOf(sandbox, 'weblink')
  control.failApi('weblink', { status: 401 })
  const refused = await callApi(sandbox, 'weblink', { token })
  expect(refused.headers['www-authenticate']).toBe('Bearer error="invalid_token"')
  control.restoreApi('weblink')
  expect((await callApi(sandbox, 'weblink', { token })).status).toBe(200)
  expect(control.counts().apis.weblink).toMatchObject({ calls: 2, answered: 1, rejected: 1 })
})

test('counts are a snapshot, and can be set to zero', async () => {
  const before = control.counts()
  await callApi(sandbox, 'general', { token: await tokenOf(sandbox, 'general') })
  expect(before.issuers.general.requests).toBe(0)
  expect(control.counts().issuers.general.requests).toBe(1)
  expect(control.counts().apis.general).toMatchObject({ calls: 1, answered: 1, maxConcurrent: 1 })
  control.resetCounts()
  expect(control.counts()).toEqual(before)
})

test.each<[string, (control: SandboxControl) => void, string]>([
  [
    'issuer',
    (it) => it.expireTokens('other' as never),
    "\"issuer\" must be 'general' or 'weblink', not 'other'",
  ],
  ['api', (it) => it.restoreApi('other' as never), "\"api\" must be 'general' or 'weblink'"],
  ['lifetime', (it) => it.setTokenLifetime(0), '"lifetime" must be a number from 1'],
  ['ms', (it) => it.slowIssuer('general', -1), '"ms" must be a number from 0'],
  ['overlap', (it) => it.rotateSecret('general', { overlap: 1 as never }), '"overlap" must be true or false'],
  [
    'status',
    (it) => it.failIssuer('general', { status: 99 }),
    '"status" must be a whole number from 200 to 599',
  ],
  [
    'retryAfter',
    (it) => it.failApi('general', { status: 500, retryAfter: -1 }),
    '"retryAfter" must be a whole number',
  ],
  ['for', (it) => it.killIssuer('general', { for: Infinity }), '"for" must be a number from 0'],
  ['times', (it) => it.killIssuer('general', { times: 0 }), '"times" must be a whole number from 1'],
  [
    'body',
    (it) => it.failIssuer('general', { status: 500, body: 1 as never }),
    '"body" must be a string or an object, not 1',
  ],
  [
    'key',
    (it) => it.failApi('general', { status: 500, body: '' } as never),
    'no keys but status, retryAfter, for',
  ],
])('a wrong %s is refused and changes nothing', async (_name, act, message) => {
  expect(() => act(control)).toThrow(message)
  expect((await requestToken(sandbox, 'general')).status).toBe(200)
})
