import { expect, test } from 'vitest'
import { fakeService } from '../../test/fake-issuer.ts'
import { fakeTime, pass } from '../../test/fake-time.ts'
import { createRateLimiter, type RateLimiterFactory } from '../fleet.ts'

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
