import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'

import { callApi, requestToken, tokenOf, type Received } from '../../test/client.ts'
import type { SandboxControl } from './sandbox-control.ts'
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
  let [lastAccepted, sentAt] = [receivedAt, receivedAt]
  while ((await callApi(sandbox, realm, { token })).status === 200)
    [lastAccepted, sentAt] = [sentAt, performance.now()]
  expect(performance.now() - requestedAt).toBeGreaterThanOrEqual(60)
  // it was sent before the token's end
  expect(lastAccepted - receivedAt).toBeLessThan(62)
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

test('a failing API responds as it is set to, then serves again', async () => {
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

test('an API that fails can redirect to anywhere', async () => {
  control.failApi('general', { status: 307, location: 'https://localhost/elsewhere', times: 1 })
  const { status, headers } = await callApi(sandbox, 'general', { token: await tokenOf(sandbox, 'general') })
  expect([status, headers['location']]).toEqual([307, 'https://localhost/elsewhere'])
})

test('an API cuts the connection of every call, or of some', async () => {
  const token = await tokenOf(sandbox, 'general')
  control.killApi('general', { times: 1 })
  await expect(callApi(sandbox, 'general', { token })).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect((await callApi(sandbox, 'general', { token })).status).toBe(200)
  expect(control.counts().apis.general).toMatchObject({ calls: 2, answered: 1, failed: 1 })
})

test('a slow API takes its time, after it has counted the call', async () => {
  const token = await tokenOf(sandbox, 'general')
  control.slowApi('general', { min: 40, max: 41 })
  const start = performance.now()
  const answer = callApi(sandbox, 'general', { token })
  await vi.waitUntil(() => control.counts().apis.general.answered === 1, { interval: 1 })
  expect((await answer).status).toBe(200)
  expect(performance.now() - start).toBeGreaterThanOrEqual(39)
})

test.each(realms)('the %s servers show the clock that they are given', async (realm) => {
  const shown = ({ headers }: Received): number => Date.parse(headers.date ?? '') - Date.now()
  control.setIssuerClock(realm, -3_600_000)
  control.setApiClock(realm, 60_000)
  const issued = await requestToken(sandbox, realm)
  expect(shown(issued)).toBeLessThan(-3_598_000)
  const token = issued.json['access_token'] as string
  const answer = await callApi(sandbox, realm, { token })
  expect(answer.status).toBe(200)
  expect(shown(answer)).toBeGreaterThan(58_000)
  control.restoreApi()
  expect(Math.abs(shown(await callApi(sandbox, realm, { token })))).toBeLessThan(2_000)
})

test('the claims of a token are by the clock of its issuer', async () => {
  control.setIssuerClock('general', -3_600_000)
  const token = await tokenOf(sandbox, 'general')
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp: number }
  expect(claims.exp * 1_000 - Date.now()).toBeLessThan(1_000)
  expect((await callApi(sandbox, 'general', { token })).status).toBe(200)
})

test('another rate policy is enforced at once, with its headers and dates, and can be taken away', async () => {
  const token = await tokenOf(sandbox, 'general')
  const limits = [{ quota: 1, window: 60_000 }]
  control.setRatePolicy('general', { limits, retryAfter: 'date', headers: ['x-ratelimit-seconds'] })
  const allowed = await callApi(sandbox, 'general', { token })
  expect(allowed.headers).toMatchObject({ 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0' })
  const limited = await callApi(sandbox, 'general', { token })
  expect(limited.status).toBe(429)
  const wait = Date.parse(limited.headers['retry-after'] ?? '') - Date.now()
  expect(wait).toBeGreaterThan(58_000)
  expect(wait).toBeLessThan(62_000)
  expect(control.state().apis.general).toMatchObject({ ratePolicy: { limits }, windows: [{ used: 2 }] })
  control.setRatePolicy('general', null)
  expect((await callApi(sandbox, 'general', { token })).status).toBe(200)
  expect(control.state().apis.general).toMatchObject({ ratePolicy: null, windows: [] })
})

test('the state names the tokens that live, and the faults', async () => {
  control.expireTokens()
  await tokenOf(sandbox, 'weblink')
  control.failIssuer('weblink', { status: 503, for: 20_000 })
  control.slowIssuer('weblink', { median: 5, p99: 10 })
  const { general, weblink } = control.state().issuers
  expect(general).toMatchObject({ live: 0, liveTokens: [], fault: null, acceptedSecrets: 1 })
  expect(weblink).toMatchObject({
    live: 1,
    liveTokens: [{ token: expect.stringMatching(/^weblink-\d+$/), lifetime: 3_600_000 }],
    latency: { median: 5, p99: 10 },
    fault: { does: 'respond', status: 503, timesLeft: null, percent: 100 },
  })
  expect(weblink.liveTokens[0]?.timeLeft).toBeGreaterThan(3_590_000)
})

test('a scenario does one thing after the other, and can be stopped', async () => {
  control.playScenario({
    steps: [
      { after: 0, do: 'setTokenLifetime', lifetime: '2s', issuer: 'general' },
      { after: '1h', do: 'failIssuer', issuer: 'general', status: 500 },
    ],
  })
  expect(control.state().scenario).toEqual({ done: 0, of: 2 })
  await vi.waitUntil(() => control.state().scenario?.done === 1)
  expect(control.state().issuers.general.tokenLifetime).toBe(2_000)
  control.stopScenario()
  expect(control.state().scenario).toBeNull()
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
    'no keys except status, retryAfter, location, for',
  ],
])('a wrong %s is refused and changes nothing', async (_name, act, message) => {
  expect(() => act(control)).toThrow(message)
  expect((await requestToken(sandbox, 'general')).status).toBe(200)
})
