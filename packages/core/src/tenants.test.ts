import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { FakeIssuer } from '../test/fake-issuer.ts'
import { configurationOf } from './adapter.ts'
import type { TokenlaneEvent, TokenManager, TokenManagerOptions } from './index.ts'
import { createTenants, type Tenants, type TenantsOptions } from './tenants.ts'

beforeEach(() => vi.useFakeTimers({ now: Date.UTC(2026, 10, 21) }))
afterEach(() => vi.useRealTimers())

const url = 'https://api.example.com/records'

/** Tenants whose client ids are their names; counts how often each is created. */
function tenantsOf(
  own: Partial<TokenManagerOptions<'general'>> = {},
  options: Partial<TenantsOptions<'general'>> = {},
): { tenants: Tenants<'general'>; issuer: FakeIssuer; events: TokenlaneEvent[]; created: string[] } {
  const issuer = new FakeIssuer()
  const events: TokenlaneEvent[] = []
  const created: string[] = []
  const tenants = createTenants<'general'>({
    options(id) {
      created.push(id)
      return {
        issuers: {
          general: {
            tokenEndpoint: 'https://auth.example.com/token',
            credentials: { clientId: id, clientSecret: `secret-${id}` },
          },
        },
        apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general' }],
        observe: (event) => events.push(event),
        fetch: issuer.fetch,
        ...own,
      }
    },
    ...options,
  })
  return { tenants, issuer, events, created }
}

const send = (tokens: TokenManager<'general'>, ms = 0): Promise<string> | undefined =>
  tokens.route(url)?.send(async (authorization) => {
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms))
    return { status: 200, result: authorization, discard() {} }
  })

test('each tenant has its own token, obtained with its own credentials', async () => {
  const { tenants, issuer, created } = tenantsOf()
  const [acme, other] = [tenants.get('acme'), tenants.get('other')]
  expect(await send(acme)).toBe('Bearer token-1')
  expect(await send(other)).toBe('Bearer token-2')
  expect(await send(tenants.get('acme'))).toBe('Bearer token-1')
  expect((await acme.getToken('general')).value).toBe('token-1')
  expect(created).toEqual(['acme', 'other'])
  expect(issuer.requests.map((form) => form['client_id'])).toEqual(['acme', 'other'])
})

test('a tenant has the same manager each time, which tools know', () => {
  const { tenants } = tenantsOf()
  const acme = tenants.get('acme')
  expect(tenants.get('acme')).toBe(acme)
  expect(configurationOf(acme)?.apis).toMatchObject([{ baseUrl: 'https://api.example.com/' }])
})

test('events say whose they are, and a tenant can be observed by itself', async () => {
  const { tenants, events } = tenantsOf()
  const ofAcme: TokenlaneEvent[] = []
  const end = tenants.get('acme').observe((event) => ofAcme.push(event))
  await send(tenants.get('acme'))
  await send(tenants.get('other'))
  end()
  await send(tenants.get('acme'))
  const seen = events.map(({ type, tenant }) => [type, tenant])
  expect(seen).toEqual([
    ['token.renewed', 'acme'],
    ['call.finished', 'acme'],
    ['token.renewed', 'other'],
    ['call.finished', 'other'],
    ['call.finished', 'acme'],
  ])
  expect(ofAcme).toEqual(events.slice(0, 2))
})

test.each<[string, unknown, string]>([
  [
    'no credentials',
    { issuers: { general: { tokenEndpoint: 'https://auth.example.com/token' } }, apis: [] },
    '`issuers.general.credentials` is missing',
  ],
  ['no object', 'acme', '`options()` is a string'],
  ['nothing', undefined, '`options()` is missing'],
  ['a limiter that is none', { limiter: 7 }, '`limiter` is 7'],
])('a tenant with %s is refused by its name', (_what, own, reason) => {
  for (const limits of ['own', 'shared'] as const) {
    const { tenants, issuer } = tenantsOf({}, { options: () => own as never, limits })
    expect(() => tenants.get('acme')).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTIONS',
        message: expect.stringMatching(/^Cannot use tenant "acme": /),
      }),
    )
    expect(() => tenants.get('acme')).toThrow(reason)
    expect(issuer.count).toBe(0)
  }
})

test('a tenant is asked for again once its options are right', async () => {
  let own = {}
  const { tenants } = tenantsOf()
  const late = createTenants({
    options: (id) => ({ ...(own as TokenManagerOptions<'general'>), environment: id }),
  })
  expect(() => late.get('acme')).toThrow('`issuers` is missing')
  own = {
    issuers: { general: { tokenEndpoint: 'https://auth.example.com/token', credentials: async () => [] } },
    apis: [],
  }
  expect(late.get('acme').status().apis).toEqual([])
  for (const id of ['', 7, undefined])
    expect(() => tenants.get(id as string)).toThrow('Cannot use tenant: `id` is')
})

test('everything that is wrong with the options is named at once', () => {
  const create = (): unknown => createTenants({ most: 0, limits: 'all', tenantLimits: 'own' } as never)
  expect(create).toThrow(/^Cannot create tenants: 4 options are invalid:/)
})

test.each(['tenants', 'mostTenants', 'tenantLimits'])('a manager has no option `%s`', (name) => {
  const { tenants } = tenantsOf({ [name]: 1 })
  expect(() => tenants.get('acme')).toThrow(`\`${name}\` is not an option`)
})

test('the least recently used tenant is dropped and created again, but not within 10 s of its use', async () => {
  const { tenants, created } = tenantsOf({}, { most: 2 })
  const held = tenants.get('a')
  for (const id of ['a', 'b', 'c']) await send(tenants.get(id))
  expect(await send(held)).toBe('Bearer token-1')
  await vi.advanceTimersByTimeAsync(10_001)
  await send(tenants.get('d'))
  await send(held)
  await send(tenants.get('b'))
  expect(created).toEqual(['a', 'b', 'c', 'd', 'b'])
  await vi.advanceTimersByTimeAsync(10_001)
  for (const id of ['e', 'f']) await send(tenants.get(id))
  // its manager works on, and is that of the tenant again
  expect(await send(held)).toBe('Bearer token-8')
  expect(tenants.get('a')).toBe(held)
  expect(created.filter((id) => id === 'a')).toHaveLength(2)
  expect(vi.getTimerCount()).toBe(0)
})

test('a tenant with a call under way, or a token request, is not dropped', async () => {
  const { tenants, issuer, created } = tenantsOf({}, { most: 1 })
  const call = send(tenants.get('calling'), 60_000)
  issuer.respondOnceWith(() => issuer.token()).respondOnceWith(() => issuer.after(30_000))
  const token = tenants.get('renewing').getToken('general')
  token.catch(() => {})
  await vi.advanceTimersByTimeAsync(12_000)
  await send(tenants.get('other'))
  expect(created).toEqual(['calling', 'renewing', 'other'])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await call).toBe('Bearer token-1')
  await send(tenants.get('calling'))
  expect(created.filter((id) => id === 'calling')).toHaveLength(1)
})

const quota2: TokenManagerOptions<'general'>['apis'] = [
  {
    baseUrl: 'https://api.example.com/',
    issuer: 'general',
    ratePolicy: { limits: [{ quota: 2, window: 60_000 }] },
  },
]

test.each([undefined, 'GET'])(
  'a tenant with limits of its own, of %s, is not dropped while a unit of them is used: its quota would begin anew',
  async (match) => {
    const limits = [{ quota: 2, window: 60_000, match }]
    const apis = [{ baseUrl: 'https://api.example.com/', issuer: 'general' as const, ratePolicy: { limits } }]
    const { tenants, created } = tenantsOf({ apis }, { most: 1 })
    const acme = tenants.get('acme')
    await Promise.all([send(acme), send(acme)])
    await vi.advanceTimersByTimeAsync(30_000)
    await send(tenants.get('other'))
    let sent = false
    const third = send(acme)?.then(() => (sent = true))
    await vi.advanceTimersByTimeAsync(29_000)
    expect(sent).toBe(false)
    await vi.advanceTimersByTimeAsync(1_100)
    await third
    expect(created).toEqual(['acme', 'other'])
    await vi.advanceTimersByTimeAsync(61_000)
    await send(tenants.get('other'))
    await send(tenants.get('new'))
    await send(acme)
    expect(created).toEqual(['acme', 'other', 'new', 'acme'])
  },
)

test('a tenant whose API is paused is not dropped: the API would get calls in its pause', async () => {
  const { tenants, created } = tenantsOf({ apis: quota2 }, { most: 1 })
  const acme = tenants.get('acme')
  const refused = { status: 429, retryAfter: '120', result: 'refused', discard() {} }
  await acme.route(url)?.send(async () => refused, { replayable: false })
  await vi.advanceTimersByTimeAsync(90_000)
  await send(tenants.get('other'))
  expect(acme.status().apis[0]).toHaveProperty('pausedUntil')
  expect(created).toEqual(['acme', 'other'])
})

test('with shared limits a tenant is dropped whatever the others use', async () => {
  const { tenants, created } = tenantsOf({ apis: quota2 }, { most: 1, limits: 'shared' })
  await send(tenants.get('acme'))
  await vi.advanceTimersByTimeAsync(11_000)
  await send(tenants.get('other'))
  await vi.advanceTimersByTimeAsync(61_000)
  await send(tenants.get('acme'))
  expect(created).toEqual(['acme', 'other', 'acme'])
})

test('close() waits for the calls of every tenant, and ends them all', async () => {
  const { tenants } = tenantsOf()
  const acme = tenants.get('acme')
  const call = send(acme, 100)
  await vi.advanceTimersByTimeAsync(10)
  let isClosed = false
  const closing = tenants.close().then(() => (isClosed = true))
  await vi.advanceTimersByTimeAsync(10)
  expect(isClosed).toBe(false)
  await expect(acme.getToken('general')).rejects.toMatchObject({ code: 'MANAGER_CLOSED' })
  expect(() => tenants.get('new')).toThrow(expect.objectContaining({ code: 'MANAGER_CLOSED' }))
  await vi.advanceTimersByTimeAsync(100)
  expect(await call).toBe('Bearer token-1')
  await closing
})

test('a tenant that is closed is created again when it is used again', async () => {
  const { tenants, created } = tenantsOf()
  const acme = tenants.get('acme')
  await send(acme)
  await acme.close()
  expect(await send(acme)).toBe('Bearer token-2')
  expect(created).toEqual(['acme', 'acme'])
})

const api = 'https://api.example.com/'

test.each([
  { limits: [], keptAs: api },
  { limits: [{ name: 'account', quota: 100, window: 1_000 }], keptAs: 'named limits' },
])(
  'tenants do not share a queue, nor the budget of a shared limiter: $keptAs',
  async ({ limits, keptAs }) => {
    const budgets: string[] = []
    const { tenants } = tenantsOf({
      apis: [{ baseUrl: api, issuer: 'general', ratePolicy: { limits, concurrency: 1 } }],
      limiter({ baseUrl }) {
        budgets.push(baseUrl)
        const permit = { answered() {}, ended() {}, cancel() {} }
        return {
          take: () => permit,
          forecast: () => 0,
          usage: () => ({ used: undefined, lag: 0, arrivesWithin: undefined }),
          tell() {},
          async close() {},
        }
      },
    })
    const calls = [send(tenants.get('a'), 100), send(tenants.get('b c'), 100)]
    await vi.advanceTimersByTimeAsync(100)
    expect(await Promise.all(calls.map(async (call) => call))).toEqual(['Bearer token-1', 'Bearer token-2'])
    expect(budgets).toEqual([`${keptAs}#a`, `${keptAs}#b%20c`])
  },
)
