import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { FakeIssuer } from '../../test/fake-issuer.ts'
import {
  createTokenManager,
  type TokenlaneEvent,
  type TokenManager,
  type TokenManagerOptions,
} from '../index.ts'

beforeEach(() => vi.useFakeTimers({ now: Date.UTC(2026, 10, 21) }))
afterEach(() => vi.useRealTimers())

const url = 'https://api.example.com/records'

/** A manager with tenants, whose client ids are their names; counts how often each is built. */
function managerOfTenants(options: Partial<TokenManagerOptions<'general'>> = {}): {
  tokens: TokenManager<'general'>
  issuer: FakeIssuer
  events: TokenlaneEvent[]
  built: string[]
} {
  const issuer = new FakeIssuer()
  const events: TokenlaneEvent[] = []
  const built: string[] = []
  const tokens = createTokenManager<'general'>({
    issuers: {
      general: {
        tokenEndpoint: 'https://auth.example.com/token',
        credentials: { clientId: 'main', clientSecret: 'secret-main' },
      },
    },
    apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general' }],
    tenants(id) {
      built.push(id)
      return { issuers: { general: { credentials: { clientId: id, clientSecret: `secret-${id}` } } } }
    },
    observe: (event) => events.push(event),
    fetch: issuer.fetch,
    ...options,
  })
  return { tokens, issuer, events, built }
}

const send = (tokens: TokenManager<'general'>, ms = 0): Promise<string> | undefined =>
  tokens.route(url)?.send(async (authorization) => {
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms))
    return { status: 200, result: authorization, discard() {} }
  })

test('each tenant has its own token, obtained with its own credentials on first use', async () => {
  const { tokens, issuer, built } = managerOfTenants()
  const [acme, other] = [tokens.forTenant('acme'), tokens.forTenant('other')]
  expect(built).toEqual([])
  expect(await send(tokens)).toBe('Bearer token-1')
  expect(await send(acme)).toBe('Bearer token-2')
  expect(await send(other)).toBe('Bearer token-3')
  expect(await send(tokens.forTenant('acme'))).toBe('Bearer token-2')
  expect((await acme.getToken('general')).value).toBe('token-2')
  expect(built).toEqual(['acme', 'other'])
  expect(issuer.requests.map((form) => form['client_id'])).toEqual(['main', 'acme', 'other'])
})

test('events say whose they are, and a tenant can be observed by itself', async () => {
  const { tokens, events } = managerOfTenants()
  const ofAcme: TokenlaneEvent[] = []
  tokens.forTenant('acme').observe((event) => ofAcme.push(event))
  await send(tokens)
  await send(tokens.forTenant('acme'))
  await send(tokens.forTenant('other'))
  const seen = events.map(({ type, tenant }) => [type, tenant])
  expect(seen).toEqual(
    [undefined, 'acme', 'other'].flatMap((tenant) => [
      ['token.renewed', tenant],
      ['call.finished', tenant],
    ]),
  )
  expect(ofAcme.map(({ tenant }) => tenant)).toEqual(['acme', 'acme'])
})

test.each<[string, unknown, string]>([
  ['no credentials', { issuers: { general: {} } }, '`issuers.general.credentials` is missing'],
  ['no issuers', {}, '`issuers` is missing'],
  ['no object', 'acme', '`tenants("acme")` is a string'],
  ['an option of the manager', { issuers: {}, fetch: 1 }, '`tenants("acme").fetch` is not an option'],
  [
    'an issuer that the manager has not',
    { issuers: { genral: {}, general: { credentials: { clientId: 'a', clientSecret: 'b' } } } },
    '`issuers.genral` is not an option (did you mean `general`?)',
  ],
])(
  'a tenant with %s is refused, and never has the credentials of another',
  async (_what, options, reason) => {
    const { tokens, issuer } = managerOfTenants({ tenants: () => options as never })
    const acme = tokens.forTenant('acme')
    const message = expect.stringContaining(`Cannot use tenant "acme": ${reason}`) as string
    await expect(acme.getToken('general')).rejects.toMatchObject({ code: 'INVALID_OPTIONS', message })
    expect(() => acme.route(url)).toThrow(expect.objectContaining({ message }))
    expect(issuer.count).toBe(0)
  },
)

test('without `tenants`, and without a name, there is no tenant', () => {
  const { tokens } = managerOfTenants({ tenants: undefined })
  expect(() => tokens.forTenant('acme')).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
  for (const id of ['', 7, undefined])
    expect(() => managerOfTenants().tokens.forTenant(id as string)).toThrow('Cannot use tenant: `id` is')
})

test('the least recently used tenant is dropped and built anew, but not within 10 s of its use', async () => {
  const { tokens, built } = managerOfTenants({ mostTenants: 2 })
  const held = tokens.forTenant('a')
  for (const id of ['a', 'b', 'c']) await send(tokens.forTenant(id))
  expect(await send(held)).toBe('Bearer token-1')
  await vi.advanceTimersByTimeAsync(10_001)
  await send(tokens.forTenant('d'))
  await send(held)
  await send(tokens.forTenant('b'))
  expect(built).toEqual(['a', 'b', 'c', 'd', 'b'])
  expect(vi.getTimerCount()).toBe(0)
})

test('a tenant with a call under way, or a token request, is not dropped', async () => {
  const { tokens, issuer, built } = managerOfTenants({ mostTenants: 1 })
  const call = send(tokens.forTenant('calling'), 60_000)
  issuer.respondOnceWith(() => issuer.token()).respondOnceWith(() => issuer.after(30_000))
  const token = tokens.forTenant('renewing').getToken('general')
  token.catch(() => {})
  await vi.advanceTimersByTimeAsync(12_000)
  await send(tokens.forTenant('other'))
  expect(built).toEqual(['calling', 'renewing', 'other'])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await call).toBe('Bearer token-1')
  await send(tokens.forTenant('calling'))
  expect(built.filter((id) => id === 'calling')).toHaveLength(1)
})

const quota2: TokenManagerOptions<'general'>['apis'] = [
  {
    baseUrl: 'https://api.example.com/',
    issuer: 'general',
    ratePolicy: { limits: [{ quota: 2, window: 60_000 }] },
  },
]

test('a tenant with limits of its own is not dropped while a unit of them is used: its quota would begin anew', async () => {
  const { tokens, built } = managerOfTenants({ mostTenants: 1, apis: quota2 })
  const acme = tokens.forTenant('acme')
  await Promise.all([send(acme), send(acme)])
  await vi.advanceTimersByTimeAsync(30_000)
  await send(tokens.forTenant('other'))
  let sent = false
  const third = send(acme)?.then(() => (sent = true))
  await vi.advanceTimersByTimeAsync(29_000)
  expect(sent).toBe(false)
  await vi.advanceTimersByTimeAsync(1_100)
  await third
  expect(built).toEqual(['acme', 'other'])
  await vi.advanceTimersByTimeAsync(61_000)
  await send(tokens.forTenant('other'))
  await send(tokens.forTenant('new'))
  await send(acme)
  expect(built).toEqual(['acme', 'other', 'new', 'acme'])
})

test('a tenant whose API is paused is not dropped: the API would get calls in its pause', async () => {
  const { tokens, built } = managerOfTenants({ mostTenants: 1, apis: quota2 })
  const acme = tokens.forTenant('acme')
  const refused = { status: 429, retryAfter: '120', result: 'refused', discard() {} }
  await acme.route(url)?.send(async () => refused, { replayable: false })
  await vi.advanceTimersByTimeAsync(90_000)
  await send(tokens.forTenant('other'))
  expect(acme.status().apis[0]).toHaveProperty('pausedUntil')
  expect(built).toEqual(['acme', 'other'])
})

test('with shared limits a tenant is dropped whatever the others use', async () => {
  const { tokens, built } = managerOfTenants({ mostTenants: 1, apis: quota2, tenantLimits: 'shared' })
  await send(tokens.forTenant('acme'))
  await vi.advanceTimersByTimeAsync(11_000)
  await send(tokens.forTenant('other'))
  await vi.advanceTimersByTimeAsync(61_000)
  await send(tokens.forTenant('acme'))
  expect(built).toEqual(['acme', 'other', 'acme'])
})

test('close() waits for the calls of every tenant, and ends them all', async () => {
  const { tokens } = managerOfTenants()
  const acme = tokens.forTenant('acme')
  const call = send(acme, 100)
  await vi.advanceTimersByTimeAsync(10)
  let isClosed = false
  const closing = tokens.close().then(() => (isClosed = true))
  await vi.advanceTimersByTimeAsync(10)
  expect(isClosed).toBe(false)
  await expect(acme.getToken('general')).rejects.toMatchObject({ code: 'MANAGER_CLOSED' })
  await expect(tokens.forTenant('new').getToken('general')).rejects.toMatchObject({ code: 'MANAGER_CLOSED' })
  await vi.advanceTimersByTimeAsync(100)
  expect(await call).toBe('Bearer token-1')
  await closing
})

test('a tenant that is closed is built anew when it is used again', async () => {
  const { tokens, built } = managerOfTenants()
  const acme = tokens.forTenant('acme')
  await send(acme)
  await acme.close()
  expect(await send(acme)).toBe('Bearer token-2')
  expect(built).toEqual(['acme', 'acme'])
})

test('tenants do not share a queue, nor the budget of a shared limiter', async () => {
  const budgets: string[] = []
  const { tokens } = managerOfTenants({
    apis: [
      { baseUrl: 'https://api.example.com/', issuer: 'general', ratePolicy: { limits: [], concurrency: 1 } },
    ],
    limiter({ baseUrl }) {
      budgets.push(baseUrl)
      const permit = { answered() {}, ended() {}, cancel() {} }
      return { take: () => permit, forecast: () => 0 }
    },
  })
  const calls = [send(tokens.forTenant('a'), 100), send(tokens.forTenant('b c'), 100)]
  await vi.advanceTimersByTimeAsync(100)
  expect(await Promise.all(calls.map(async (call) => call))).toEqual(['Bearer token-1', 'Bearer token-2'])
  expect(budgets).toEqual([
    'https://api.example.com/',
    'https://api.example.com/#a',
    'https://api.example.com/#b%20c',
  ])
})
