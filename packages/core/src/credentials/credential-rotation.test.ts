import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { acceptOnly, client, fakeService, refusal, secretsOf } from '../../test/fake-issuer.ts'
import {
  createTokenManager,
  type Credentials,
  type CredentialsContext,
  oauthIssuer,
  TokenlaneError,
} from '../index.ts'

const day = 86_400_000
const now = Date.UTC(2026, 10, 21)
const other: Credentials = { clientId: 'client-1', clientSecret: 'secret-2' }

beforeEach(() => vi.useFakeTimers({ now }))
afterEach(() => vi.useRealTimers())

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

test('of two secrets the second is tried in the same flight, and the working one is remembered', async () => {
  const { tokens, issuer, eventsOf } = fakeService({ credentials: [client, other] })
  acceptOnly(issuer, 'secret-2')
  await tokens.warmUp()
  await pass(3_600_000)
  await tokens.getToken('general')
  expect(secretsOf(issuer)).toEqual(['secret-1', 'secret-2', 'secret-2'])
  expect(eventsOf('credentials.rotated')).toEqual([])
})

test('a rotation from the first to the second secret loses no call', async () => {
  const { tokens, issuer, eventsOf } = fakeService({ credentials: [client, other] })
  acceptOnly(issuer, 'secret-1')
  await tokens.warmUp()
  acceptOnly(issuer, 'secret-2')
  await pass(3_600_000)
  await tokens.getToken('general')
  expect(secretsOf(issuer)).toEqual(['secret-1', 'secret-1', 'secret-2'])
  expect(eventsOf('credentials.rotated')).toEqual([
    { type: 'credentials.rotated', issuer: 'general', clientId: 'client-1' },
  ])
})

test('no other secret is tried for a refusal that is not about the client', async () => {
  const { tokens, issuer } = fakeService({ credentials: [client, other] })
  issuer.respondWith(() => refusal('invalid_scope'))
  await expect(tokens.getToken('general')).rejects.toMatchObject({ oauthError: 'invalid_scope' })
  expect(issuer.count).toBe(1)
})

test('a provider is asked before every token request, and again at once when it is refused', async () => {
  const asked: CredentialsContext['reason'][] = []
  let current = client
  const { tokens, issuer } = fakeService({
    credentials: ({ reason }) => {
      asked.push(reason)
      return reason === 'rejected' ? other : current
    },
  })
  await tokens.warmUp()
  acceptOnly(issuer, 'secret-2')
  await pass(3_600_000)
  await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-2' })
  current = other
  await pass(3_600_000)
  await tokens.getToken('general')
  expect(asked).toEqual(['startup', 'renewal', 'rejected', 'renewal'])
  expect(secretsOf(issuer)).toEqual(['secret-1', 'secret-1', 'secret-2', 'secret-2'])
})

test('a changed secret ends the memory of a refusal at once', async () => {
  let current = client
  const { tokens, issuer, eventsOf } = fakeService({ credentials: async () => current })
  acceptOnly(issuer, 'secret-2')
  for (let call = 0; call < 1_000; call += 1)
    await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
  expect(issuer.count).toBe(1)
  expect(eventsOf('renewal.failed')).toHaveLength(1)
  current = other
  await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
  expect(issuer.count).toBe(2)
})

test('two refused secrets are one failure, however often calls ask while both are remembered', async () => {
  const { tokens, issuer, eventsOf } = fakeService({ credentials: () => [client, other] })
  issuer.respondWith(() => refusal())
  for (let call = 0; call < 100; call += 1) {
    await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
    await pass(9)
  }
  expect(issuer.count).toBe(2)
  expect(eventsOf('renewal.failed')).toHaveLength(1)
})

test('a failure of the provider\u2019s own dependencies is not a refusal by the issuer', async () => {
  const { tokens } = fakeService({
    credentials: () => raise(new TokenlaneError('TOKEN_REQUEST_REFUSED', 'secret-1')),
    maxWait: 1,
  })
  await expect(tokens.getToken('general')).rejects.toMatchObject({
    code: 'CREDENTIALS_UNAVAILABLE',
    message: expect.stringMatching(
      /the credentials function failed with TokenlaneError \(TOKEN_REQUEST_REFUSED\)/,
    ),
  })
})

test('a provider that makes up a new secret each time does not make every call a token request', async () => {
  let made = 0
  const { tokens, issuer } = fakeService({
    credentials: () => ({ clientId: 'client-1', clientSecret: `made-up-${(made += 1)}` }),
  })
  issuer.respondWith(() => refusal())
  for (let call = 0; call < 1_000; call += 1)
    await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
  expect(issuer.count).toBe(8)
  issuer.respondWith(undefined)
  await pass(30_000)
  await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
})

test('the ninth secret of a list is tried too', async () => {
  const list = Array.from({ length: 9 }, (_, index) => ({
    clientId: 'client-1',
    clientSecret: `secret-${index + 1}`,
  }))
  for (const credentials of [list, () => list]) {
    const { tokens, issuer } = fakeService({ credentials })
    acceptOnly(issuer, 'secret-9')
    await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
    expect(issuer.count).toBe(9)
  }
})

test('a current secret whose text is a part of invalid_client does not keep the next one from being tried', async () => {
  const { tokens, issuer } = fakeService({
    credentials: [{ clientId: 'client-1', clientSecret: 'client' }, other],
  })
  acceptOnly(issuer, other.clientSecret)
  await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
})

test.each([
  ['ENOENT', true],
  ['ERR_ACCESS_DENIED', true],
  ['SecretNotFound', true],
  ['secret-1', false],
  ['s3cr3t', false],
  ['JBSWY3DPEHPK3PXP', false],
  ['aB3dE5fG7hJ9', false],
])('a provider’s code %s is quoted only if it looks like a code: %s', async (code, quoted) => {
  const { tokens } = fakeService({
    credentials: () => raise(Object.assign(new Error('failed'), { code })),
    maxWait: 1,
  })
  const error: unknown = await tokens.getToken('general').catch((thrown: unknown) => thrown)
  expect(String(error).includes(code)).toBe(quoted)
})

test('of two assertion functions of one client the second is tried when the first is refused', async () => {
  const sent: (string | null)[] = []
  const tokens = createTokenManager({
    issuers: {
      general: oauthIssuer({
        tokenEndpoint: 'https://auth.example.com/token',
        credentials: ['a', 'b'].map((assertion) => ({
          clientId: 'client-1',
          assertion: () => assertion,
          assertionType: 'urn:example:opaque',
        })),
      }),
    },
    apis: [],
    fetch: async (_url, { body }) => {
      sent.push(body.get('client_assertion'))
      return sent.at(-1) === 'b' ? Response.json({ access_token: 't', expires_in: 60 }) : refusal()
    },
  })
  await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 't' })
  expect(sent).toEqual(['a', 'b'])
})

test.each<[string, () => unknown, string]>([
  [
    'throws',
    () => raise(Object.assign(new Error('secret-1'), { code: 'ENOENT' })),
    'the credentials function failed (ENOENT)',
  ],
  ['rejects', () => Promise.reject(new Error('secret-1')), 'the credentials function failed'],
  ['returns nothing', () => undefined, 'the credentials function returned nothing'],
  ['returns an empty list', () => [], 'the credentials function returned an empty array'],
  ['gives no secret', () => ({ clientId: 'a' }), 'credentials whose `clientSecret` is missing'],
  ['never responds', () => new Promise(() => {}), 'did not respond in time'],
])('a provider that %s is CREDENTIALS_UNAVAILABLE, and quotes nothing', async (_what, provider, reason) => {
  const { tokens, issuer } = fakeService({ credentials: provider as () => Credentials, maxWait: 1_000 })
  const error: unknown = await Promise.all([
    tokens.getToken('general').catch((thrown: unknown) => thrown),
    pass(1_000),
  ]).then(([thrown]) => thrown)
  expect(error).toMatchObject({ code: 'CREDENTIALS_UNAVAILABLE', issuer: 'general' })
  expect(String(error)).toContain(reason)
  expect(String(error)).not.toContain('secret-1')
  expect(issuer.count).toBe(0)
})

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['an empty list', []],
  ['no secret', { clientId: 'a' }],
  ['text as a date', { ...client, secretIssuedAt: '2025-10-01' }],
  ['a list with one that is wrong', [client, {}]],
])('a provider that returns %s is a mistake, and no outage: the call fails at once', async (_what, given) => {
  const { tokens, eventsOf } = fakeService({ credentials: async () => given as Credentials })
  await expect(tokens.getToken('general')).rejects.toMatchObject({
    code: 'CREDENTIALS_UNAVAILABLE',
    definite: true,
  })
  expect(eventsOf('renewal.failed')).toHaveLength(1)
})

test('all that is wrong with what a provider returns is reported at once', async () => {
  const { tokens } = fakeService({ credentials: () => ({ clientSecret: '' }) as Credentials })
  await expect(tokens.getToken('general')).rejects.toThrow(
    'the credentials function returned credentials whose `clientId` is missing; allowed: a non-empty string, and credentials whose `clientSecret` is empty; allowed:',
  )
})

class VaultSealedError extends Error {}
class secret1 extends Error {}

test('the class of what a provider throws is named, if it looks like one', async () => {
  const failing = (error: unknown): Promise<unknown> =>
    fakeService({ credentials: () => raise(error as Error), maxWait: 1 }).tokens.getToken('general')
  await expect(failing(new VaultSealedError('secret-1'))).rejects.toThrow(
    'the credentials function failed with VaultSealedError;',
  )
  for (const error of [new secret1(), Object.assign(new Error('a'), { name: 'Secret1' }), 'Secret1', null])
    await expect(failing(error)).rejects.toThrow('the credentials function failed;')
})

test('a provider that fails for a moment loses no call', async () => {
  let asked = 0
  const { tokens } = fakeService({
    credentials: () => (++asked < 3 ? raise(new Error('vault sealed')) : client),
  })
  const token = tokens.getToken('general')
  await pass(2_000)
  await expect(token).resolves.toMatchObject({ value: 'token-1' })
})

test('a secret\u2019s end is reported once at 10 days, at 5 days and at the end', async () => {
  const secretIssuedAt = new Date(now - 354 * day)
  const { tokens, eventsOf } = fakeService({ credentials: { ...client, secretIssuedAt } })
  const daysLeft = (): number | undefined => tokens.status().issuers['general']?.daysLeft
  expect(daysLeft()).toBe(11)
  const told: unknown[] = []
  for (let step = 0; step < 13 * 4; step += 1) {
    daysLeft()
    for (const { threshold, daysLeft: left } of eventsOf('secret.expiring').slice(told.length))
      told.push([step / 4, threshold, left])
    vi.setSystemTime(Date.now() + day / 4)
  }
  expect(told).toEqual([
    [1, 10, 10],
    [6, 5, 5],
    [11, 0, 0],
  ])
})

test('a secret that is short of its end at start-up is reported once, with the nearest threshold', () => {
  const secretIssuedAt = new Date(now - 362 * day)
  const { events } = fakeService({ credentials: { ...client, secretIssuedAt } })
  expect(events).toEqual([
    { type: 'secret.expiring', issuer: 'general', clientId: 'client-1', daysLeft: 3, threshold: 5 },
  ])
})

test('a new secret has its own 365 days', async () => {
  let current: Credentials = { ...client, secretIssuedAt: new Date(now - 364 * day) }
  const { tokens, eventsOf } = fakeService({ credentials: () => current })
  await tokens.warmUp()
  expect(tokens.status().issuers['general']?.daysLeft).toBe(1)
  current = { ...other, secretIssuedAt: new Date(now) }
  await pass(3_600_000)
  await tokens.getToken('general')
  expect(tokens.status().issuers['general']?.daysLeft).toBe(365)
  expect(eventsOf('secret.expiring')).toHaveLength(1)
})

test('a secret without its date has no days left, before one with a date and after it', async () => {
  let current: Credentials = client
  const { tokens } = fakeService({ credentials: () => current })
  const daysLeft: unknown[] = []
  for (const secretIssuedAt of [undefined, new Date(now), undefined]) {
    current = { ...client, secretIssuedAt }
    await tokens.getToken('general')
    daysLeft.push(tokens.status().issuers['general']?.daysLeft)
    await pass(3_600_000)
  }
  expect(daysLeft).toEqual([undefined, 365, undefined])
})

test('a secret of 180 days gives notice 30 days before its end, by the options of its issuer', () => {
  const secretIssuedAt = new Date(now - 155 * day)
  const { tokens, eventsOf } = fakeService({
    credentials: { ...client, secretIssuedAt },
    secretLifetime: 180,
    notices: [30],
  })
  expect(tokens.status().issuers['general']?.daysLeft).toBe(25)
  expect(eventsOf('secret.expiring')).toMatchObject([{ daysLeft: 25, threshold: 30 }])
})

function raise(error: Error): never {
  throw error
}
