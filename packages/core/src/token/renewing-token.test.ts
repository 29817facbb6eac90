import { expect, test, vi } from 'vitest'
import { fakeTime, hour, minute, pass, second, start } from '../../test/fake-time.ts'
import { client, fakeService, refusal, unavailable } from '../../test/fake-issuer.ts'
import { generalIssuer, weblinkIssuer } from '../issuer/issuer-options.ts'

fakeTime()

test('50 first calls cost one token request', async () => {
  const { tokens, issuer, eventsOf } = fakeService()
  issuer.respondOnceWith(() => issuer.after(200))
  const calls = Promise.all(Array.from({ length: 50 }, () => tokens.getToken('general')))
  await pass(200)
  expect(new Set((await calls).map(({ value }) => value))).toEqual(new Set(['token-1']))
  expect(issuer.count).toBe(1)
  expect(eventsOf('token.renewed')).toMatchObject([{ reason: 'startup', joiners: 50, duration: 200 }])
})

test('a token that expired between two calls is renewed for the second one', async () => {
  const { tokens, issuer, eventsOf } = fakeService()
  await tokens.warmUp()
  await pass(10 * hour)
  expect(issuer.count).toBe(1)
  expect((await tokens.getToken('general')).value).toBe('token-2')
  expect(eventsOf('token.renewed').map(({ reason }) => reason)).toEqual(['startup', 'expired'])
})

test('an aging token serves while its renewal runs in the background', async () => {
  const { tokens, issuer, eventsOf } = fakeService({ renewBefore: 5 * minute })
  await tokens.warmUp()
  await pass(56 * minute)
  issuer.respondOnceWith(() => issuer.after(2 * second))
  for (let call = 0; call < 10; call += 1) expect((await tokens.getToken('general')).value).toBe('token-1')
  await pass(2 * second)
  expect((await tokens.getToken('general')).value).toBe('token-2')
  expect(issuer.count).toBe(2)
  expect(eventsOf('token.renewed')[1]).toMatchObject({ reason: 'ahead', joiners: 0 })
})

test('a token that expires while its renewal is given up costs no call', async () => {
  const { tokens, issuer } = fakeService({ renewBefore: 5 * minute })
  await tokens.warmUp()
  await pass(hour - 5 * second)
  issuer.respondOnceWith(() => unavailable())
  // an observer that takes its time
  const end = tokens.observe(({ type }) => type === 'renewal.failed' && vi.setSystemTime(Date.now() + minute))
  const call = tokens.getToken('general')
  await pass(0)
  end()
  await pass(5 * second)
  expect((await call).value).toBe('token-2')
})

test('a call waits for a renewal that began before it no longer than `maxWait`, whatever `requestTimeout` is', async () => {
  const { tokens, issuer } = fakeService({
    renewBefore: minute,
    requestTimeout: minute,
    maxWait: 15 * second,
  })
  await tokens.warmUp()
  issuer.respondWith(() => new Promise<Response>(() => {}))
  await pass(hour - 11 * second)
  await tokens.getToken('general')
  await pass(11 * second)
  const outcome = vi.fn()
  tokens.getToken('general').catch(outcome)
  await pass(15 * second)
  expect(outcome).toHaveBeenCalledWith(expect.objectContaining({ code: 'TOKEN_REQUEST_TIMEOUT' }))
})

test.each([2 ** 31 - 1, 2 ** 31, Number.MAX_VALUE])(
  'a `requestTimeout` of %d ms is not cut short',
  async (ms) => {
    const { tokens, issuer } = fakeService({ requestTimeout: ms, maxWait: ms })
    issuer.respondOnceWith(() => issuer.after(minute))
    const token = tokens.getToken('general')
    await pass(minute)
    expect((await token).value).toBe('token-1')
    expect(issuer.count).toBe(1)
  },
)

test('an old token serves to its end if the issuer refuses to renew it', async () => {
  const { tokens, issuer } = fakeService({ renewBefore: 0 })
  await tokens.warmUp()
  issuer.respondWith(() => refusal())
  await pass(hour - 2 * second)
  expect((await tokens.getToken('general')).value).toBe('token-1')
  expect((await tokens.getToken('general')).value).toBe('token-1')
  await pass(2 * second)
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
  // the first refusal may pass soon, the second stays
  expect(issuer.count).toBe(3)
  await pass(29 * second)
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
  expect(issuer.count).toBe(3)
})

test('an idle manager has no timer, before and after', async () => {
  const { tokens } = fakeService()
  expect(vi.getTimerCount()).toBe(0)
  await tokens.getToken('general')
  expect(vi.getTimerCount()).toBe(0)
  await pass(10 * hour)
  await tokens.getToken('general')
  expect(vi.getTimerCount()).toBe(0)
})

test('a token that has expired when its response arrives is not used, and is requested again', async () => {
  const { tokens, issuer, eventsOf } = fakeService()
  issuer.lifetime = 1
  issuer.respondOnceWith(() => issuer.after(second))
  const token = tokens.getToken('general')
  await pass(second + 250)
  await expect(token).resolves.toMatchObject({ value: 'token-2' })
  expect(eventsOf('renewal.failed')).toMatchObject([{ code: 'TOKEN_REQUEST_TIMEOUT' }])
})

test.each<[string, () => void]>([
  ['sleep or thaw: only the wall clock went on', () => vi.setSystemTime(start + 2 * hour)],
  [
    'a wall clock set back: only the monotonic clock went on',
    () => {
      vi.advanceTimersByTime(hour)
      vi.setSystemTime(start - 2 * hour)
    },
  ],
])('%s: no dead token is sent, and no storm follows', async (_what, jump) => {
  const { tokens, issuer } = fakeService()
  await tokens.warmUp()
  jump()
  const after = await Promise.all(Array.from({ length: 50 }, () => tokens.getToken('general')))
  expect(new Set(after.map(({ value }) => value))).toEqual(new Set(['token-2']))
  await pass(minute)
  await tokens.getToken('general')
  expect(issuer.count).toBe(2)
})

test('expires_in 0 is not asked for again and again: 1,000 calls in 10 s cost one request', async () => {
  const { tokens, issuer } = fakeService({ maxWait: 1 })
  issuer.lifetime = 0
  for (let call = 0; call < 1_000; call += 1) {
    await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_RESPONSE_INVALID' })
    await pass(10)
  }
  expect(issuer.count).toBe(1)
})

test('general and weblink tokens that end together cost one request each, and neither call gets the other\u2019s', async () => {
  const { tokens, issuer } = fakeService(
    {},
    {
      issuers: {
        general: generalIssuer({ authUrl: 'https://auth.example.com', credentials: client }),
        weblink: weblinkIssuer({ authUrl: 'https://weblink-auth.example.com', credentials: client }),
      },
    },
  )
  issuer.respondWith(() => {
    const { scope = 'general' } = issuer.requests.at(-1) ?? {}
    return Response.json({
      access_token: `${scope}-${issuer.count}`,
      token_type: 'Bearer',
      expires_in: 3_600,
    })
  })
  await tokens.warmUp()
  await pass(hour)
  const names = Array.from({ length: 100 }, (_, call) => (call % 2 ? 'general' : 'weblink'))
  const values = await Promise.all(names.map(async (name) => (await tokens.getToken(name)).value))
  expect(issuer.count).toBe(4)
  for (const [call, value] of values.entries()) expect(value).toMatch(call % 2 ? /^general-/ : /^WebLinkAPI-/)
})

test('two clients of one token endpoint have a token each', async () => {
  const tokenEndpoint = 'https://auth.example.com/token'
  const { tokens, issuer } = fakeService(
    {},
    {
      issuers: {
        general: { tokenEndpoint, credentials: client },
        reports: { tokenEndpoint, scope: 'reports', credentials: client },
        other: { tokenEndpoint, credentials: { clientId: 'client-2', clientSecret: 'secret-2' } },
      },
    },
  )
  const names = ['general', 'reports', 'other', 'general', 'reports', 'other']
  const values = await Promise.all(names.map(async (name) => (await tokens.getToken(name)).value))
  expect(new Set(values).size).toBe(3)
  expect(values.slice(0, 3)).toEqual(values.slice(3))
  expect(issuer.requests.map(({ client_id, scope }) => [client_id, scope])).toEqual([
    ['client-1', undefined],
    ['client-1', 'reports'],
    ['client-2', undefined],
  ])
})

test('an issuer that hangs delays no call of another', async () => {
  const issuers = {
    general: generalIssuer({ authUrl: 'https://auth.example.com', credentials: client }),
    weblink: weblinkIssuer({ authUrl: 'https://weblink-auth.example.com', credentials: client }),
  }
  const { tokens, issuer } = fakeService({}, { issuers })
  issuer.respondWith(() => (issuer.requests.at(-1)?.['scope'] ? issuer.token() : new Promise(() => {})))
  const hanging = tokens.getToken('general').catch((error: unknown) => error)
  // no time passes for these
  for (let call = 0; call < 100; call += 1)
    await expect(tokens.getToken('weblink')).resolves.toMatchObject({ issuer: 'weblink' })
  await pass(15 * second)
  await expect(hanging).resolves.toMatchObject({ code: 'TOKEN_REQUEST_TIMEOUT', issuer: 'general' })
})

const place = 'issuer "general" (https://auth.example.com/public/security/v1/token)'

test.each<[string, () => Response | Error, object]>([
  [
    'status',
    () => unavailable(),
    { code: 'TOKEN_REQUEST_FAILED', status: 503, reason: `${place} responded with status 503` },
  ],
  [
    'error of the issuer',
    () => refusal(),
    {
      code: 'TOKEN_REQUEST_REFUSED',
      status: 401,
      oauthError: 'invalid_client',
      reason: expect.stringMatching(/invalid_client/) as string,
    },
  ],
  [
    'transport code',
    () =>
      new TypeError('fetch failed', {
        cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
      }),
    {
      code: 'TOKEN_REQUEST_FAILED',
      transportCode: 'ECONNREFUSED',
      reason: `${place} could not be reached (ECONNREFUSED): nothing listens at this port, check the URL`,
    },
  ],
])('a failed renewal says why: the %s and the endpoint', async (_what, answer, expected) => {
  const { tokens, issuer, eventsOf } = fakeService({ maxWait: 1 })
  issuer.respondOnceWith(answer)
  await tokens.warmUp().catch(() => {})
  expect(eventsOf('renewal.failed')).toEqual([
    {
      type: 'renewal.failed',
      issuer: 'general',
      endpoint: 'https://auth.example.com/public/security/v1/token',
      repeats: 0,
      retryIn: expect.any(Number) as number,
      tokenStillValid: false,
      failFast: true,
      ...expected,
    },
  ])
})

test('an issuer without TLS 1.2 is not asked twice by the same flight', async () => {
  const { tokens, issuer } = fakeService()
  const tooOld = Object.assign(new Error('ssl'), { code: 'ERR_SSL_UNSUPPORTED_PROTOCOL' })
  issuer.respondWith(() => new TypeError('fetch failed', { cause: tooOld }))
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'INSECURE_TRANSPORT' })
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'INSECURE_TRANSPORT' })
  expect(issuer.count).toBe(1)
})

test('the renewal that ends an outage says how long it was and how many tries failed, and the next one does not', async () => {
  const { tokens, issuer, eventsOf } = fakeService()
  issuer.respondOnceWith(() => unavailable()).respondOnceWith(() => unavailable())
  const token = tokens.getToken('general')
  await vi.advanceTimersByTimeAsync(5_000)
  await token
  const failures = eventsOf('renewal.failed')
  const [renewed] = eventsOf('token.renewed')
  const duration = failures.reduce((sum, { retryIn }) => sum + retryIn, 0)
  expect(renewed?.outage?.failedTries).toBe(2)
  expect(Math.abs((renewed?.outage?.duration ?? 0) - duration)).toBeLessThan(5)
  tokens.invalidate('general')
  await tokens.getToken('general')
  expect(eventsOf('token.renewed')[1]).not.toHaveProperty('outage')
})
