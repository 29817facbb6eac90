import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { metrics } from '@opentelemetry/api'
import { createTokenManager, type TokenManager, type TokenManagerOptions } from '@tokenlane/core'
import { createTenants } from '@tokenlane/core/tenants'
import { createFetch } from '@tokenlane/fetch'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { recordMetricsInMemory } from './support/recorder.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  vi.resetModules()
})
afterEach(() => {
  vi.useRealTimers()
  metrics.disable()
})

/** Another copy of the package at each call. */
async function copyOfPackage(): Promise<typeof import('../src/index.ts')> {
  vi.resetModules()
  return import('../src/index.ts')
}

let issued = 0
const options = (): TokenManagerOptions<'a'> => ({
  issuers: {
    a: {
      tokenEndpoint: 'https://issuer.example/t',
      credentials: { clientId: 'me', clientSecret: 'secret-1' },
    },
  },
  apis: [{ baseUrl: 'https://api.example.com/', issuer: 'a' }],
  fetch: async () => {
    issued += 1
    return Response.json({ access_token: `t${issued}`, token_type: 'Bearer', expires_in: 3_600 })
  },
})

async function call(tokens: TokenManager): Promise<void> {
  const fetchWithTokens = createFetch(tokens, { fetch: async () => new Response('ok') })
  await (await fetchWithTokens('https://api.example.com/x')).text()
}

type Series = Awaited<ReturnType<ReturnType<typeof recordMetricsInMemory>['series']>>
const sum = (series: Series, name: string): number =>
  (series.get(name) ?? []).reduce((all, { value }) => all + (value as number), 0)
const tenantsIn = (series: Series, name: string): unknown[] =>
  (series.get(name) ?? []).map(({ attributes }) => attributes['tenant'])

test('metrics of tenants count every call, bring no dropped tenant back, and keep none alive', async () => {
  const { instrumentTokens } = await copyOfPackage()
  const { meter, series } = recordMetricsInMemory()
  const created: string[] = []
  const tenants = createTenants({ most: 2, options: (id) => (created.push(id), options()) })
  const names = ['a', 'b', 'c', 'd', 'e']
  for (const tenant of names) {
    instrumentTokens(tenants.get(tenant), { meter, attributes: { tenant } })
    await call(tenants.get(tenant))
    vi.advanceTimersByTime(10_001)
  }
  const live = await series()
  expect(tenantsIn(live, 'tokenlane.token.live')).toEqual(['d', 'e'])
  expect(created).toEqual(names)
  expect(sum(live, 'tokenlane.calls')).toBe(5)

  for (const tenant of names) {
    await call(tenants.get(tenant))
    vi.advanceTimersByTime(10_001)
    await series()
  }
  const all = await series()
  expect(created).toEqual([...names, ...names])
  expect(sum(all, 'tokenlane.calls')).toBe(10)
  expect(
    all.get('tokenlane.token.request.duration')?.map(({ value }) => (value as { count: number }).count),
  ).toEqual(names.map(() => 2))
})

test('a tenant that is instrumented while it is dropped is counted from its next use on', async () => {
  const { instrumentTokens } = await copyOfPackage()
  const { meter, series } = recordMetricsInMemory()
  const created: string[] = []
  const tenants = createTenants({ most: 1, options: (id) => (created.push(id), options()) })
  const held = tenants.get('a')
  vi.advanceTimersByTime(10_001)
  tenants.get('b')
  const end = instrumentTokens(held, { meter })
  expect((await series()).size).toBe(0)
  expect(created).toEqual(['a', 'b'])
  await call(tenants.get('a'))
  expect(sum(await series(), 'tokenlane.calls')).toBe(1)
  end()
  await call(tenants.get('a'))
  expect(sum(await series(), 'tokenlane.calls')).toBe(1)
})

test('two copies of the package count a call once', async () => {
  const [one, other] = [await copyOfPackage(), await copyOfPackage()]
  expect(one.instrumentTokens).not.toBe(other.instrumentTokens)
  const { meter, series } = recordMetricsInMemory()
  const tokens = createTokenManager(options())
  const ends = [one.instrumentTokens(tokens, { meter }), other.instrumentTokens(tokens, { meter })]
  await call(tokens)
  expect(sum(await series(), 'tokenlane.calls')).toBe(1)
  ends[0]?.()
  await call(tokens)
  expect(sum(await series(), 'tokenlane.calls')).toBe(2)
  ends[1]?.()
  await call(tokens)
  expect(sum(await series(), 'tokenlane.calls')).toBe(2)
})

test('instrumented before the SDK has started, all is recorded once it has, the gauges of other managers too', async () => {
  const { instrumentTokens } = await copyOfPackage()
  const [idle, busy] = [createTokenManager(options()), createTokenManager(options())]
  instrumentTokens(idle, { attributes: { tenant: 'idle' } })
  instrumentTokens(busy, { attributes: { tenant: 'busy' } })
  await call(busy)
  const { provider, series } = recordMetricsInMemory()
  metrics.setGlobalMeterProvider(provider)
  await call(busy)
  const seen = await series()
  expect(sum(seen, 'tokenlane.calls')).toBe(1)
  expect(tenantsIn(seen, 'tokenlane.token.live')).toEqual(['idle', 'busy'])

  // another SDK in its place, as tests start one each
  metrics.disable()
  const next = recordMetricsInMemory()
  metrics.setGlobalMeterProvider(next.provider)
  await call(busy)
  expect(sum(await next.series(), 'tokenlane.calls')).toBe(1)
  expect(sum(await series(), 'tokenlane.calls')).toBe(1)
})

test('a manager that stays instrumented is freed once the application has let it go', async () => {
  const { instrumentTokens } = await copyOfPackage()
  const { meter, series } = recordMetricsInMemory()
  const refs: WeakRef<TokenManager>[] = []
  for (let index = 0; index < 20; index += 1) {
    const tokens = createTokenManager(options())
    instrumentTokens(tokens, { meter, attributes: { tenant: String(index) } })
    await call(tokens)
    await tokens.close()
    refs.push(new WeakRef(tokens))
  }
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let round = 0; round < 3; round += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
  expect(refs.filter((ref) => ref.deref() !== undefined).length).toBeLessThan(2)
  expect(sum(await series(), 'tokenlane.calls')).toBe(20)
})
