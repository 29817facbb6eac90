import { expect, test, vi } from 'vitest'
import { FakeIssuer } from '../../test/fake-issuer.ts'
import { fakeTime, pass } from '../../test/fake-time.ts'
import type { Exchange } from '../adapter.ts'
import type { Api, RatePolicy, TokenlaneEvent, TokenManagerOptions } from '../index.ts'
import type { RateLimiter } from '../fleet.ts'
import { createTenants, type Tenants } from '../tenants.ts'

fakeTime()

const baseUrl = 'https://api.example.com/'
const perSecond = { limits: [{ quota: 10, window: 1_000 }] }

interface Fleet {
  readonly tenants: Tenants
  readonly events: TokenlaneEvent[]
  /** The names of the calls in the order in which they were sent, and when. */
  readonly sent: { readonly name: string; readonly at: number }[]
  readonly answers: Partial<Exchange<string>>[]
  call(tenant: string, options?: CallOptions): Promise<string>
}

interface CallOptions {
  readonly name?: string
  readonly priority?: number
  readonly signal?: AbortSignal
  readonly method?: string
}

/** Tenants that share the limits of one API, which takes 10 ms for a call. */
function tenantsSharing(
  ratePolicy: RatePolicy,
  own: Partial<TokenManagerOptions> | ((id: string) => Partial<TokenManagerOptions>) = {},
): Fleet {
  const events: TokenlaneEvent[] = []
  const { fetch } = new FakeIssuer()
  const tenants = createTenants<string>({
    options: (id) => ({
      issuers: {
        general: {
          tokenEndpoint: 'https://auth.example.com/token',
          credentials: { clientId: id, clientSecret: `of-${id}` },
        },
      },
      apis: [{ baseUrl, issuer: 'general', ratePolicy }],
      observe: (event) => events.push(event),
      fetch,
      ...(typeof own === 'function' ? own(id) : own),
    }),
    limits: 'shared',
  })
  const sent: { name: string; at: number }[] = []
  const answers: Partial<Exchange<string>>[] = []
  const start = performance.now()
  return {
    tenants,
    events,
    sent,
    answers,
    async call(tenant, { name = tenant, ...callOptions } = {}) {
      const api = tenants.get(tenant).route(baseUrl)
      if (api === undefined) throw new Error('no API')
      return api.send(async (authorization) => {
        sent.push({ name, at: performance.now() - start })
        const answer = answers.shift()
        await new Promise((resolve) => setTimeout(resolve, 10))
        return { status: 200, result: authorization, discard() {}, ...answer }
      }, callOptions)
    },
  }
}

const times = (count: number, act: () => Promise<string>): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, act))

/** Most calls in any window of a server that counts arrivals. */
function mostIn(window: number, sent: Fleet['sent']): number {
  return Math.max(
    ...sent.map(({ at }) => sent.filter((other) => other.at >= at && other.at < at + window).length),
  )
}

test('the five calls of a tenant go within two rounds of one that has 1,000 waiting', async () => {
  const { call, sent } = tenantsSharing(perSecond)
  const busy = times(1_000, () => call('busy'))
  await pass(1_500)
  const before = sent.length
  const other = times(5, () => call('other'))
  await pass(2_500)
  const after = sent.slice(before).map(({ name }) => name)
  const until = after.lastIndexOf('other') + 1
  expect(after.filter((name) => name === 'other')).toHaveLength(5)
  expect(after.slice(0, until).filter((name) => name === 'busy').length).toBeLessThanOrEqual(6)
  await other
  await pass(100_000)
  await busy
  expect(sent).toHaveLength(1_005)
  expect(mostIn(1_000, sent)).toBe(10)
  expect(vi.getTimerCount()).toBe(0)
})

test('100 tenants that always wait get the same: the Jain index is 0.98 or more, and none of the rate is lost', async () => {
  const { call, sent, tenants } = tenantsSharing({ limits: [{ quota: 50, window: 1_000 }] })
  const names = Array.from({ length: 100 }, (_, index) => `tenant-${index}`)
  await Promise.all(names.map((name) => tenants.get(name).warmUp()))
  // else the first tenant takes what is there before the others come
  await Promise.all([times(50, () => call('before')), pass(50)])
  // the first has a hundred times as many as the last
  for (const [index, name] of names.entries())
    for (let made = 0; made < 2_000 / (index + 1) + 20; made += 1) void call(name).catch(() => {})
  await pass(20_250)
  const counts = names.map((name) => sent.filter((each) => each.name === name).length)
  const sum = counts.reduce((total, count) => total + count, 0)
  const squares = counts.reduce((total, count) => total + count * count, 0)
  expect(sum ** 2 / (counts.length * squares)).toBeGreaterThan(0.98)
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
  expect(sum).toBeGreaterThanOrEqual(0.97 * 50 * (20_000 / 1_010))
  expect(mostIn(1_000, sent)).toBe(50)
})

test('priorities hold within a tenant', async () => {
  const { call, sent, tenants } = tenantsSharing({ limits: [{ quota: 1, window: 1_000 }] })
  await Promise.all(['a', 'b', 'main'].map((name) => tenants.get(name).warmUp()))
  await Promise.all([call('main', { name: 'first' }), pass(100)])
  const calls = [
    call('a', { name: 'a low', priority: -1 }),
    call('a', { name: 'a' }),
    call('a', { name: 'a high', priority: 1 }),
    call('b', { name: 'b' }),
    call('main'),
  ]
  await pass(6_000)
  await Promise.all(calls)
  expect(sent.map(({ name }) => name)).toEqual(['first', 'a high', 'b', 'main', 'a', 'a low'])
})

test('a tenant that is closed, gives up or has no slot delays no other', async () => {
  const { call, sent, tenants } = tenantsSharing({ limits: [{ quota: 2, window: 1_000 }], concurrency: 2 })
  await Promise.all([times(2, () => call('warm')), pass(50)])
  const abort = new AbortController()
  const refused = Promise.allSettled([call('closed'), call('aborted', { signal: abort.signal })])
  const others = times(3, () => call('other'))
  await pass(100)
  void tenants.get('closed').close()
  abort.abort()
  await pass(960)
  expect(sent.map(({ name }) => name)).toEqual(['warm', 'warm', 'other', 'other'])
  await pass(2_000)
  await others
  expect(await refused).toMatchObject([
    { status: 'rejected', reason: { code: 'MANAGER_CLOSED' } },
    { status: 'rejected', reason: { name: 'AbortError' } },
  ])
  expect(vi.getTimerCount()).toBe(0)
})

test('a tenant whose token takes long, or never comes, delays no other', async () => {
  const issuer = new FakeIssuer()
  const { call, sent } = tenantsSharing(perSecond, { fetch: issuer.fetch })
  await Promise.all([times(10, () => call('other')), pass(100)])
  issuer.respondOnceWith(() => issuer.after(30_000))
  const slow = call('slow').catch(() => {})
  const others = times(20, () => call('other'))
  await pass(2_100)
  await others
  expect(sent).toHaveLength(30)
  await pass(60_000)
  await slow
})

test('a pause that the API asks for holds for all tenants; after it one call tries', async () => {
  const { call, sent, answers, events, tenants } = tenantsSharing(perSecond)
  await Promise.all([call('a'), call('b'), call('c'), pass(100)])
  answers.push({ status: 429, retryAfter: '5' })
  const calls = [call('a')]
  await pass(20)
  calls.push(call('b'), call('b'), call('c'))
  await pass(4_980)
  expect(sent).toHaveLength(4)
  await pass(15)
  expect(sent).toHaveLength(5)
  await pass(10)
  // then the others
  expect(
    sent
      .slice(5)
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(['b', 'b', 'c'])
  await pass(20)
  await Promise.all(calls)
  const paused = events.find(({ type }) => type === 'api.paused')
  expect(paused).toMatchObject({ api: baseUrl, for: 5_000, tenant: 'a' })
  answers.push({ status: 429, retryAfter: '300' })
  const held = [call('a')]
  await pass(20)
  held.push(call('b'), call('created in the pause'))
  await pass(1_000)
  expect(tenants.get('created in the pause').status().apis[0]).toMatchObject({
    queued: 1,
    pausedUntil: expect.any(String),
  })
  tenants.get('c').resume(baseUrl)
  await pass(50)
  await Promise.all(held)
})

test('refused calls of all tenants are given up together, each after its own tenant’s maxWait', async () => {
  const { call, answers, tenants } = tenantsSharing(perSecond, (id) => ({
    apis: [
      {
        baseUrl,
        issuer: 'general',
        ratePolicy: { ...perSecond, maxWait: id === 'patient' ? 20_000 : 5_000 },
      },
    ],
  }))
  const all = ['a', 'b', 'patient']
  await Promise.all([...all.map((id) => call(id)), pass(2_000)])
  answers.push(...Array.from({ length: 40 }, () => ({ status: 429, result: 'refused' })))
  const start = performance.now()
  const heard = new Map<string, number>()
  for (const id of all)
    void times(2, () => call(id)).then(() => heard.set(id, Math.round((performance.now() - start) / 1_000)))
  await pass(60_000)
  expect(Object.fromEntries(heard)).toEqual({ a: 3, b: 3, patient: 15 })
  expect(tenants.get('patient').status().apis[0]).toMatchObject({ queued: 0, running: 0 })
})

test('what the API says remains applies to all tenants', async () => {
  const { call, sent, answers } = tenantsSharing(perSecond)
  await Promise.all([call('a'), call('b'), pass(100)])
  answers.push({ header: (name) => (name === 'ratelimit' ? '"default";r=1;t=1' : null) })
  await Promise.all([call('a'), pass(20)])
  const calls = [call('b'), call('a'), call('b')]
  await pass(500)
  expect(sent).toHaveLength(4)
  await pass(700)
  await Promise.all(calls)
})

test('with `spread` calls of all tenants are apart, and a change of the limits holds for all', async () => {
  const { call, sent, tenants } = tenantsSharing({ ...perSecond, spread: true })
  await Promise.all([call('a'), call('b'), pass(1_000)])
  const calls = [...Array.from({ length: 3 }, () => call('a')), ...Array.from({ length: 3 }, () => call('b'))]
  await pass(600)
  await Promise.all(calls)
  expect(
    sent
      .slice(2)
      .map(({ name }) => name)
      .join(''),
  ).toBe('aababb')
  const gaps = sent.slice(1).map(({ at }, index) => at - (sent[index]?.at ?? 0))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(99)
  tenants.get('a').setRatePolicy(baseUrl, { limits: [{ quota: 1, window: 5_000 }] })
  const before = sent.length
  const later = [call('b'), call('a')]
  await pass(11_000)
  await Promise.all(later)
  expect((sent[before + 1]?.at ?? 0) - (sent[before]?.at ?? 0)).toBeGreaterThanOrEqual(5_000)
})

test('a change of the limits holds for what other tenants have queued, every limit of it', async () => {
  const { call, sent, tenants } = tenantsSharing(perSecond)
  const calls = [times(40, () => call('a')), times(40, () => call('b'))]
  await pass(500)
  expect(sent).toHaveLength(10)
  const more = { quota: 20, window: 60_000 }
  tenants.get('a').setRatePolicy(baseUrl, { limits: [...perSecond.limits, more] })
  await pass(50_000)
  expect(sent).toHaveLength(20)
  await pass(240_000)
  await Promise.all(calls)
})

test('limits of one name are one for all tenants, whichever APIs a tenant has', async () => {
  const uploads = 'https://uploads.example.com/'
  const ratePolicy = { limits: [{ name: 'account', quota: 10, window: 60_000 }] }
  const apis = [baseUrl, uploads].map((each) => ({ baseUrl: each, issuer: 'general', ratePolicy }))
  const { tenants } = tenantsSharing(ratePolicy, (id) => ({ apis: id === 'small' ? apis.slice(0, 1) : apis }))
  let sent = 0
  const send = (tenant: string, url: string): Promise<unknown> =>
    (tenants.get(tenant).route(url) as Api).send(async () => {
      sent += 1
      return { status: 200, result: '', discard() {} }
    })
  const calls = [
    ...Array.from({ length: 8 }, () => send('small', baseUrl)),
    ...Array.from({ length: 8 }, () => send('large', uploads)),
  ]
  await pass(10_000)
  expect(sent).toBe(10)
  await pass(120_000)
  await Promise.all(calls)
})

test('the status of a tenant says what the shared limits have learned, and when its last call is sent', async () => {
  const { call, tenants } = tenantsSharing({ limits: [{ quota: 5, window: 1_000 }], accounting: 'learned' })
  const calls = times(50, () => call('a'))
  await pass(2_500)
  const { arrivesWithin, emptyAt } = tenants.get('a').status().apis[0] ?? {}
  expect(arrivesWithin).toBeLessThan(250)
  const expected = Date.parse(emptyAt ?? '') - Date.now()
  const start = Date.now()
  let took = 0
  void calls.then(() => (took = Date.now() - start))
  await pass(20_000)
  expect(Math.abs(took - expected) / took).toBeLessThan(0.05)
})

test('tenants that differ in what is each one\u2019s own share one quota', async () => {
  const { call, sent } = tenantsSharing({ limits: [] }, (id) => ({
    apis: [
      {
        baseUrl,
        issuer: 'general',
        ratePolicy: {
          limits: [{ quota: 3, window: 60_000 }],
          maxWait: 100_000 + id.length,
          concurrency: 3 + id.length,
          maxQueued: 100 + id.length,
          longestPause: 5_000 + id.length,
          limitedStatuses: [429, 500 + id.length],
        },
      },
    ],
  }))
  const waiting = ['a', 'bb', 'ccc'].map((id) => times(2, () => call(id)))
  await pass(1_000)
  expect(sent).toHaveLength(3)
  await pass(61_000)
  await Promise.all(waiting)
})

test('a tenant with another policy has limits of its own', async () => {
  const { call, sent } = tenantsSharing({ limits: [{ quota: 1, window: 60_000 }] }, (id) =>
    id === 'apart'
      ? { apis: [{ baseUrl, issuer: 'general', ratePolicy: { limits: [{ quota: 2, window: 60_000 }] } }] }
      : {},
  )
  const waiting = [call('a'), call('b')]
  await Promise.all([times(2, () => call('apart')), pass(100)])
  expect(sent.map(({ name }) => name).toSorted()).toEqual(['a', 'apart', 'apart'])
  await pass(61_000)
  await Promise.all(waiting)
})

/** The rest of a limiter that knows nothing of limits. */
const silent = {
  forecast: () => 0,
  usage: () => ({ used: undefined, lag: 0, arrivesWithin: undefined }),
  tell() {},
  async close() {},
}

test('the limiter of an application is made once for an API, for all tenants, and closed after the last of them', async () => {
  const made: string[] = []
  const asked: number[] = []
  let closed = 0
  let unitsAvailable = (): void => {}
  let failed = (_reason: string): void => {}
  let units = 0
  const { call, tenants, events } = tenantsSharing(perSecond, {
    limiter(api) {
      made.push(api.baseUrl)
      unitsAvailable = api.unitsAvailable
      failed = api.failed
      const permit = { answered() {}, ended() {}, cancel() {} }
      return {
        take(_, wanted) {
          asked.push(wanted)
          if (units === 0) return Infinity
          units -= 1
          return permit
        },
        ...silent,
        close: async () => void (closed += 1),
      }
    },
  })
  const calls = [times(3, () => call('a')), times(2, () => call('b'))]
  await pass(10)
  expect(Math.max(...asked)).toBe(5)
  units = 5
  unitsAvailable()
  await pass(100)
  await Promise.all(calls)
  failed('it is gone')
  expect(events.filter(({ type }) => type === 'limiter.failed')).toHaveLength(1)
  await tenants.get('a').close()
  expect(closed).toBe(0)
  await tenants.close()
  expect([made, closed]).toEqual([[baseUrl], 1])
})

test('the limiter of an application learns which calls the API refused', async () => {
  const answered: unknown[] = []
  const permit = {
    answered: (response: { isRefused: boolean; cost: number }) => void answered.push(response),
    ended() {},
    cancel() {},
  }
  const limiter = (): RateLimiter => ({ take: () => permit, ...silent })
  const { call, answers } = tenantsSharing({ ...perSecond, accounting: 'learned' }, { limiter })
  answers.push({ status: 429, retryAfter: '1' })
  await Promise.all([call('a'), pass(2_000)])
  expect(answered).toEqual([
    { isRefused: true, cost: 1 },
    { isRefused: false, cost: 1 },
  ])
})

test.each([
  [
    'in a pause longer than maxWait',
    { limits: [], maxWait: 2_000 },
    { status: 429, retryAfter: '60' },
    'QUEUE_TIMEOUT',
  ],
  ['for a full queue', { limits: [{ quota: 1, window: 60_000 }], maxQueued: 0 }, {}, 'QUEUE_FULL'],
])('a call that is refused at once, %s, leaves no timer behind', async (_, policy, answer, code) => {
  const { tenants, call, answers } = tenantsSharing(policy)
  await Promise.all(['main', 'a'].map((name) => tenants.get(name).warmUp()))
  answers.push(answer)
  const first = call('main')
  await pass(20)
  await first
  await expect(call('a')).rejects.toMatchObject({ code })
  await pass(0)
  expect(vi.getTimerCount()).toBe(0)
})

test('a tenant that waits for a limit of some calls keeps no other tenant waiting that makes others', async () => {
  const { tenants, call, sent } = tenantsSharing({
    limits: [
      { quota: 1, window: 60_000, match: 'POST' },
      { quota: 5, window: 1_000, match: 'GET' },
    ],
  })
  await Promise.all(['a', 'b'].map((id) => tenants.get(id).warmUp()))
  const writes = Promise.all(['w1', 'w2'].map((name) => call('a', { name, method: 'POST' })))
  const reads = Promise.all(Array.from({ length: 20 }, () => call('b', { name: 'r', method: 'GET' })))
  await pass(4_000)
  expect(sent.filter(({ name }) => name === 'r')).toHaveLength(20)
  await pass(60_000)
  await writes
  await reads
})

test('a budget that no tenant uses any more is forgotten, but not while it holds a unit', async () => {
  const made: string[] = []
  const closed: string[] = []
  const { tenants, call } = tenantsSharing({ limits: [] }, (id) => ({
    apis: [{ baseUrl, issuer: 'general', ratePolicy: { limits: [{ quota: Number(id), window: 1_000 }] } }],
    limiter: ({ baseUrl: api }) => {
      made.push(api)
      const uses = { used: 0 }
      const permit = { answered() {}, ended() {}, cancel() {} }
      return {
        ...silent,
        take: () => {
          uses.used = id === '1' ? 1 : 0
          return permit
        },
        usage: () => ({ used: [uses.used], lag: 0, arrivesWithin: undefined }),
        close: async () => void closed.push(id),
      }
    },
  }))
  for (let id = 1; id <= 100; id += 1) {
    await Promise.all([call(String(id)), pass(20)])
    await tenants.get(String(id)).close()
  }
  expect(made).toHaveLength(100)
  expect(closed.length).toBeGreaterThan(80)
  expect(closed).not.toContain('1')
  await tenants.close()
  expect(closed).toHaveLength(100)
})
