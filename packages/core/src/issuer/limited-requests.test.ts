import { expect, test } from 'vitest'
import type { RateLimiterFactory } from '../limits/rate-limiter.ts'
import { FakeIssuer, fakeService } from '../../test/fake-issuer.ts'
import { fakeTime, pass } from '../../test/fake-time.ts'

fakeTime()

const ratePolicy = { limits: [{ quota: 2, window: 10_000 }] }

test('token requests queue under the policy of their issuer, for all managers that ask the same endpoint', async () => {
  const issuer = new FakeIssuer()
  const asked: number[] = []
  const fetch: typeof issuer.fetch = async (...request) => {
    asked.push(performance.now())
    return issuer.fetch(...request)
  }
  const authUrl = 'https://auth.limited-1.example.com'
  const managers = Array.from({ length: 4 }, () =>
    fakeService({ authUrl, ratePolicy, maxWait: 30_000 }, { fetch }),
  )
  const tokens = Promise.all(managers.map(async ({ tokens: each }) => each.getToken('general')))
  await pass(1_000)
  expect(asked).toHaveLength(2)
  await pass(11_000)
  expect(await tokens).toHaveLength(4)
  expect((asked[2] ?? 0) - (asked[0] ?? 0)).toBeGreaterThanOrEqual(10_000)
})

test('a request that may only be made after the calls that wait have given up fails at once', async () => {
  const authUrl = 'https://auth.limited-2.example.com'
  const service = fakeService({ authUrl, ratePolicy, maxWait: 2_000 })
  await service.tokens.getToken('general')
  for (const { tokens } of [1, 2].map(() => fakeService({ authUrl, ratePolicy, maxWait: 2_000 }))) {
    const outcome = tokens.getToken('general').catch((error: unknown) => error)
    await pass(2_000)
    await outcome
  }
  const { tokens } = fakeService({ authUrl, ratePolicy, maxWait: 2_000 })
  const outcome = tokens.getToken('general').catch((error: unknown) => error)
  await pass(2_100)
  expect(await outcome).toMatchObject({
    code: 'TOKEN_REQUEST_FAILED',
    message: expect.stringContaining('rate policy'),
  })
})

test('a policy of an issuer may say which requests count', async () => {
  const authUrl = 'https://auth.limited-3.example.com'
  const matched = { limits: [{ quota: 2, window: 10_000, match: 'POST' }] }
  const managers = Array.from({ length: 3 }, () =>
    fakeService({ authUrl, ratePolicy: matched, maxWait: 30_000 }),
  )
  let obtained = 0
  const tokens = managers.map(async ({ tokens: each }) => {
    await each.getToken('general')
    obtained += 1
  })
  await pass(1_000)
  expect(obtained).toBe(2)
  await pass(11_000)
  await Promise.all(tokens)
})

test('requests of a manager that has closed still count, where their units are kept in this process', async () => {
  const authUrl = 'https://auth.limited-4.example.com'
  const closed = fakeService({ authUrl, ratePolicy })
  await closed.tokens.getToken('general')
  await closed.tokens.close()
  const later = [1, 2].map(() => fakeService({ authUrl, ratePolicy }))
  const outcomes = Promise.all(later.map(async ({ tokens }) => tokens.getToken('general')))
  await pass(1_000)
  expect(later.map(({ issuer }) => issuer.count)).toEqual([1, 0])
  await pass(11_000)
  await outcomes
})

test('a request waits for what a shared limiter says, and does not ask it again and again', async () => {
  const authUrl = 'https://auth.limited-5.example.com'
  let [isFree, asked] = [false, 0]
  let unitsAvailable = (): void => {}
  const limiter: RateLimiterFactory = (api) => {
    ;({ unitsAvailable } = api)
    return {
      take() {
        asked += 1
        return isFree ? { answered() {}, ended() {}, cancel() {} } : Infinity
      },
      forecast: () => 0,
      usage: () => ({ used: undefined, lag: 0, arrivesWithin: undefined }),
      tell() {},
      async close() {},
    }
  }
  const { tokens } = fakeService({ authUrl, ratePolicy }, { limiter })
  const token = tokens.getToken('general')
  await pass(10_000)
  expect(asked).toBeLessThan(20)
  isFree = true
  unitsAvailable()
  await pass(0)
  expect(await token).toBeDefined()
})

test('a call that comes to wait for a renewal in the background gives up when its own wait is over', async () => {
  const authUrl = 'https://auth.limited-6.example.com'
  const slow = { limits: [{ quota: 1, window: 120_000 }] }
  const { tokens, issuer } = fakeService({ authUrl, ratePolicy: slow, maxWait: 5_000, renewBefore: 20_000 })
  issuer.lifetime = 40
  await tokens.getToken('general')
  await pass(30_000)
  await tokens.getToken('general')
  await pass(10_000)
  const outcome = tokens.getToken('general').catch((error: unknown) => error)
  await pass(5_000)
  expect(await Promise.race([outcome, Promise.resolve('still waiting')])).toMatchObject({
    code: 'TOKEN_REQUEST_FAILED',
  })
})

test('a manager whose budget was forgotten between two requests asks under a new one', async () => {
  const limiter: RateLimiterFactory = () => {
    let isClosed = false
    return {
      take: () => (isClosed ? Infinity : { answered() {}, ended() {}, cancel() {} }),
      forecast: () => 0,
      usage: () => ({ used: [0], lag: 0, arrivesWithin: undefined }),
      tell() {},
      async close() {
        isClosed = true
      },
    }
  }
  const issuers = Array.from({ length: 40 }, (_, index) =>
    fakeService({ authUrl: `https://auth.forgotten-${index}.example.com`, ratePolicy }, { limiter }),
  )
  for (const { tokens } of issuers) await tokens.getToken('general')
  await pass(4_000_000)
  const again = Promise.all(issuers.map(async ({ tokens }) => tokens.getToken('general')))
  again.catch(() => {})
  await pass(20_000)
  expect(issuers.map(({ issuer }) => issuer.count)).toEqual(issuers.map(() => 2))
  await Promise.all(issuers.map(async ({ tokens }) => tokens.close()))
})

test('the error of a call names the shared budget where that has failed', async () => {
  const authUrl = 'https://auth.limited-7.example.com'
  const limiter: RateLimiterFactory = ({ failed }) => ({
    take() {
      failed('ECONNREFUSED')
      return Infinity
    },
    forecast: () => 60_000,
    usage: () => ({ used: undefined, lag: 0, arrivesWithin: undefined }),
    tell() {},
    async close() {},
  })
  const { tokens } = fakeService({ authUrl, ratePolicy }, { limiter })
  await expect(tokens.getToken('general')).rejects.toThrow(
    'by its rate policy; the shared rate budget failed (ECONNREFUSED)',
  )
})
