import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { client } from '../../test/fake-issuer.ts'
import { answer, apiOf } from '../../test/one-api.ts'
import { createRateLimiter, type LimitedApi } from '../fleet.ts'
import type { TokenManager } from '../index.ts'

let warned: { text: string; code: string }[] = []
let createTokenManager: typeof import('../index.ts').createTokenManager
let fakeService: typeof import('../../test/fake-issuer.ts').fakeService
beforeEach(async () => {
  warned = []
  // other files of this process have said much, and a process says no more than so much
  vi.resetModules()
  ;({ createTokenManager } = await import('../index.ts'))
  ;({ fakeService } = await import('../../test/fake-issuer.ts'))
  vi.spyOn(process, 'emitWarning').mockImplementation(((text: string, { code }: { code: string }) => {
    warned.push({ text, code })
  }) as never)
})
afterEach(() => vi.restoreAllMocks())

/** Returns a manager of a host of its own, whose issuer cannot be reached. */
function managed(host: string, observe?: () => void): TokenManager {
  return createTokenManager({
    issuers: {
      general: {
        tokenEndpoint: `https://auth.${host}/token`,
        credentials: { clientId: 'client', clientSecret: 'secret' },
        maxWait: 1,
      },
    },
    apis: [{ baseUrl: `https://api.${host}/`, issuer: 'general' }],
    fetch: async () => {
      throw new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ENOTFOUND' }) })
    },
    observe,
  })
}

test('where nothing observes, a token that cannot be had is one warning, once for each cause', async () => {
  for (let manager = 0; manager < 2; manager += 1)
    await expect(managed('one.example.com').getToken('general')).rejects.toThrow('ENOTFOUND')
  expect(warned).toEqual([
    {
      text: expect.stringMatching(
        /^general: no new token \(TOKEN_REQUEST_FAILED\): issuer "general" \(https:\/\/auth\.one\.example\.com\/token\) could not be reached \(ENOTFOUND\): DNS has no such host, check the URL; retrying/,
      ) as string,
      code: 'TOKENLANE_RENEWAL_FAILED',
    },
  ])
})

test('a call to an API with another scheme is one warning, and one to another path of its host is none', () => {
  const tokens = managed('two.example.com')
  for (const url of ['http://api.two.example.com/x', 'http://api.two.example.com/y']) tokens.route(url)
  expect(warned).toEqual([
    {
      text: 'http://api.two.example.com: differs in its scheme from https://api.two.example.com/, so its calls get no token',
      code: 'TOKENLANE_ROUTE_MISSED',
    },
  ])
})

test('a 429 of an API without a rate policy is one warning, however many calls get one', async () => {
  const { tokens } = fakeService({}, { observe: undefined })
  for (let call = 0; call < 2; call += 1) await apiOf(tokens).send(async () => answer(429, 429))
  expect(warned).toEqual([
    {
      text: 'https://api.example.com/: refused a call with status 429 and has no rate policy: with a `ratePolicy`, calls wait for their turn',
      code: 'TOKENLANE_POLICY_MISSING',
    },
  ])
})

test('a 401 to an `Authorization` of the caller is one warning', () => {
  const { tokens } = fakeService({}, { observe: undefined })
  for (const status of [200, 401, 401]) apiOf(tokens).kept(status)
  expect(warned).toEqual([
    {
      text: 'https://api.example.com/: answered 401 to a call that brings an `Authorization` of its own, so it gets no token: remove that header',
      code: 'TOKENLANE_AUTHORIZATION_KEPT',
    },
  ])
})

test('an API that refuses new tokens too is one warning', async () => {
  const { tokens } = fakeService({}, { observe: undefined })
  for (let call = 0; call < 2; call += 1) await apiOf(tokens).send(async () => answer(401, 401))
  expect(warned).toEqual([
    {
      text: expect.stringMatching(
        /^https:\/\/api\.example\.com\/: the API also refuses new tokens from general: check/,
      ) as string,
      code: 'TOKENLANE_REJECTION_REPEATED',
    },
  ])
})

test('each start says to which hosts secrets and tokens may travel unencrypted', () => {
  const events: unknown[] = []
  const hosts = ['keycloak', 'reports']
  const start = (allowInsecureHosts: string[], observe?: (event: unknown) => void): TokenManager =>
    createTokenManager({
      issuers: {
        general: {
          tokenEndpoint: 'http://keycloak:8080/token',
          credentials: { clientId: 'client', clientSecret: 'secret' },
          allowInsecureHosts,
        },
        other: {
          tokenEndpoint: 'https://auth.example.com/',
          credentials: { clientId: 'a', clientSecret: 'b' },
        },
      },
      apis: [{ baseUrl: 'http://keycloak/', issuer: 'general' }],
      observe,
    })
  for (let time = 0; time < 2; time += 1) start(hosts)
  expect(warned).toEqual([
    {
      text: 'general: `allowInsecureHosts` allows http: to keycloak, reports, unsafe for secrets and tokens',
      code: 'TOKENLANE_TRANSPORT_INSECURE',
    },
  ])
  for (let time = 0; time < 2; time += 1) start(hosts, (event) => events.push(event))
  const event = { type: 'transport.insecure', issuer: 'general', hosts }
  expect(events).toEqual([event, event])
})

test('a secret that expires is a warning at each of its thresholds', () => {
  const secretIssuedAt = new Date(Date.now() - 359 * 86_400_000)
  const { tokens } = fakeService({ credentials: { ...client, secretIssuedAt } }, { observe: undefined })
  tokens.status()
  vi.useFakeTimers({ now: Date.now() + 6 * 86_400_000 })
  tokens.status()
  vi.useRealTimers()
  expect(warned).toEqual([
    {
      text: 'general: rotate the secret of client client-1: 6 days left',
      code: 'TOKENLANE_SECRET_EXPIRING',
    },
    {
      text: 'general: rotate the secret of client client-1: it has expired',
      code: 'TOKENLANE_SECRET_EXPIRING',
    },
  ])
})

test('a shared budget that fails is one warning', async () => {
  const made: LimitedApi[] = []
  const { tokens } = fakeService(
    {},
    {
      observe: undefined,
      apis: [
        {
          baseUrl: 'https://api.example.com/',
          issuer: 'general',
          ratePolicy: { limits: [{ quota: 5, window: 1_000 }] },
        },
      ],
      limiter(api) {
        made.push(api)
        return createRateLimiter()
      },
    },
  )
  await tokens.getToken('general')
  for (let failure = 0; failure < 2; failure += 1) {
    made[0]?.failed('READONLY')
    made[0]?.recovered()
  }
  expect(warned).toEqual([
    {
      text: 'https://api.example.com/: the shared rate budget failed (READONLY); this process uses only its own share',
      code: 'TOKENLANE_LIMITER_FAILED',
    },
  ])
  await tokens.close()
})

test('many failures do not keep a warning of another kind from being printed', async () => {
  for (let host = 0; host < 101; host += 1)
    await expect(managed(`${host}.example.com`).getToken('general')).rejects.toThrow('ENOTFOUND')
  expect(warned).toHaveLength(100)
  apiOf(fakeService({}, { observe: undefined }).tokens).kept(401)
  expect(warned.at(-1)).toMatchObject({ code: 'TOKENLANE_AUTHORIZATION_KEPT' })
})

test('an observer takes the place of the warnings', async () => {
  const tokens = managed('three.example.com', () => {})
  await expect(tokens.getToken('general')).rejects.toThrow('ENOTFOUND')
  tokens.route('http://api.three.example.com/')
  expect(warned).toEqual([])
})
