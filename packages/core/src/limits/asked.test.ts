import { expect, test } from 'vitest'
import { client, FakeIssuer, fakeService } from '../../test/fake-issuer.ts'
import { fakeTime, pass } from '../../test/fake-time.ts'
import { createRateLimiter, type RateLimiterFactory } from '../fleet.ts'
import type { RatePolicy } from '../index.ts'
import { createTenants } from '../tenants.ts'

fakeTime()

const baseUrl = 'https://api.example.com/'

/** A limiter that notes how many attempts of each claim it was asked for, and still has to grant. */
function noting(): { limiter: RateLimiterFactory; asked: Map<string, number> } {
  const asked = new Map<string, number>()
  const limiter: RateLimiterFactory = () => {
    const units = createRateLimiter()
    return {
      take(claim, wanted) {
        const taken = units.take(claim, wanted)
        asked.set(claim.key, typeof taken === 'number' ? wanted : wanted - 1)
        return taken
      },
      forecast: (...given) => units.forecast(...given),
      usage: (...given) => units.usage(...given),
      tell() {},
      close: async () => {},
    }
  }
  return { limiter, asked }
}

test('a limiter is not asked for units of a trial any more once it is over: others would go without them', async () => {
  const { limiter, asked } = noting()
  const ratePolicy = { limits: [{ quota: 10, window: 1_000 }] }
  const { tokens } = fakeService({}, { apis: [{ baseUrl, issuer: 'general', ratePolicy }], limiter })
  await tokens.warmUp()
  let sends = 0
  const calls = Array.from({ length: 40 }, async () =>
    tokens.route(baseUrl)?.send(async () => {
      sends += 1
      const status = sends > 3 && sends <= 10 ? 429 : 200
      await new Promise((resolve) => setTimeout(resolve, 20))
      return { status, result: status, discard() {} }
    }),
  )
  await pass(1_500)
  expect([...asked.keys()].filter((key) => key.startsWith('trial'))).toHaveLength(1)
  expect([...asked].filter(([, waiting]) => waiting > 0)).toHaveLength(1)
  await pass(60_000)
  await Promise.all(calls)
  expect([...asked.values()].filter((waiting) => waiting > 0)).toEqual([])
})

test('a limiter is not asked for units of calls that gave up, though other calls wait', async () => {
  const { limiter, asked } = noting()
  const ratePolicy = {
    limits: [
      { quota: 1, window: 60_000, match: 'POST' },
      { quota: 1, window: 60_000, match: 'GET' },
    ],
  }
  const { tokens } = fakeService({}, { apis: [{ baseUrl, issuer: 'general', ratePolicy }], limiter })
  await tokens.warmUp()
  const leaving = new AbortController()
  const call = (method: string, signal?: AbortSignal): Promise<number | undefined> =>
    tokens
      .route(baseUrl)
      ?.send(async () => ({ status: 200, result: 200, discard() {} }), { method, signal }) as Promise<number>
  await Promise.all([call('POST'), call('GET'), pass(20)])
  const gone = call('POST', leaving.signal).catch(() => 0)
  const stays = call('GET')
  await pass(100)
  leaving.abort()
  await gone
  expect([...asked].filter(([, waiting]) => waiting > 0)).toHaveLength(1)
  await pass(61_000)
  await stays
})

/** Returns how tenants that share one budget call, each call for a cost. */
function tenantsWith(
  ratePolicy: RatePolicy,
  limiter: RateLimiterFactory,
): (tenant: string, cost: number, signal?: AbortSignal) => Promise<unknown> {
  const { fetch } = new FakeIssuer()
  const issuers = { general: { tokenEndpoint: 'https://auth.example.com/token', credentials: client } }
  const tenants = createTenants({
    options: () => ({ issuers, apis: [{ baseUrl, issuer: 'general', ratePolicy }], limiter, fetch }),
    limits: 'shared',
  })
  return async (tenant, cost, signal) =>
    tenants
      .get(tenant)
      .route(baseUrl)
      ?.send(async () => ({ status: 200, result: 200, discard() {} }), { cost, signal })
}

test('a limiter is not asked for units of a kind of calls that no tenant waits for any more, though others wait', async () => {
  const { limiter, asked } = noting()
  const call = tenantsWith({ limits: [{ quota: 10, window: 1_000 }] }, limiter)
  await Promise.all([call('a', 5), call('b', 5), pass(20)])
  const calls = [call('a', 3), call('a', 7), call('b', 7)]
  await pass(100)
  expect([...asked.values()].filter((waiting) => waiting > 0)).toHaveLength(2)
  await pass(1_100)
  expect([...asked].filter(([, waiting]) => waiting > 0)).toEqual([[expect.stringMatching(/^7 /), 1]])
  await pass(2_000)
  await Promise.all(calls)
  expect([...asked.values()].filter((waiting) => waiting > 0)).toEqual([])
})

test('nor for units of calls of a tenant that gave up, though others wait', async () => {
  const { limiter, asked } = noting()
  const call = tenantsWith({ limits: [{ quota: 10, window: 1_000 }] }, limiter)
  await Promise.all([call('a', 5), call('b', 5), pass(20)])
  const leaving = new AbortController()
  const gone = call('a', 3, leaving.signal).catch(() => {})
  const calls = [call('a', 7), call('b', 7)]
  await pass(100)
  leaving.abort()
  await gone
  expect([...asked].filter(([, waiting]) => waiting > 0)).toEqual([[expect.stringMatching(/^7 /), 2]])
  await pass(3_000)
  await Promise.all(calls)
})

test('nor for units of calls that wait for a token: other processes would go without them', async () => {
  const { limiter, asked } = noting()
  const ratePolicy = { limits: [{ quota: 2, window: 1_000 }] }
  const { tokens, issuer } = fakeService({}, { apis: [{ baseUrl, issuer: 'general', ratePolicy }], limiter })
  await tokens.warmUp()
  issuer.respondWith(() => new Promise<never>(() => {}))
  const statuses = [200, 401]
  const calls = Array.from({ length: 4 }, async () =>
    tokens.route(baseUrl)?.send(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      const status = statuses.shift() ?? 200
      return { status, result: status, discard() {} }
    }),
  )
  const ends = Promise.allSettled(calls)
  await pass(10)
  expect(Math.max(...asked.values())).toBeGreaterThan(0)
  await pass(1_500)
  expect([...asked.values()].filter((waiting) => waiting > 0)).toEqual([])
  await pass(60_000)
  await ends
})

test('calls that waited before a second tenant came are sent when units come free', async () => {
  let serve = (): void => {}
  let free = 0
  const units = createRateLimiter()
  const limiter: RateLimiterFactory = ({ unitsAvailable }) => {
    serve = unitsAvailable
    return {
      take(claim, wanted) {
        if (wanted === 0 || free === 0) return Infinity
        free -= 1
        return units.take({ ...claim, limits: [] }, wanted)
      },
      forecast: () => 0,
      usage: (...given) => units.usage(...given),
      tell() {},
      close: async () => {},
    }
  }
  const call = tenantsWith({ limits: [{ quota: 1, window: 1_000 }] }, limiter)
  const sent: string[] = []
  for (const tenant of ['a', 'b']) {
    void call(tenant, 1).then(() => sent.push(tenant))
    await pass(100)
  }
  free = 2
  serve()
  await pass(100)
  expect(sent.toSorted()).toEqual(['a', 'b'])
})
