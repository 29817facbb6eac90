import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fakeService, type FakeService } from '../../test/fake-issuer.ts'
import type { Api, RateLimit, RatePolicy } from '../index.ts'

// What the headers of an API's responses change for its queue.

beforeEach(() => vi.useFakeTimers({ now: Date.UTC(2026, 10, 21) }))
afterEach(() => vi.useRealTimers())

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)
const baseUrl = 'https://api.example.com/'
const travel = 10

interface LimitedServer extends FakeService {
  /** Makes a call and returns its status. */
  call(): Promise<number>
  readonly arrivals: number[]
  readonly refused: number[]
}

/** A server that keeps a limit of its own, as a fixed or a sliding window, and says what remains of it. */
function serverWith(
  { quota, window }: RateLimit,
  ratePolicy: RatePolicy,
  { sliding = false, says = ['ratelimit', 'ratelimit-policy'] }: { sliding?: boolean; says?: string[] } = {},
): LimitedServer {
  const service = fakeService({}, { apis: [{ baseUrl, issuer: 'general', ratePolicy }] })
  const api = service.tokens.route(baseUrl) as Api
  const arrivals: number[] = []
  const refused: number[] = []
  const accepted: number[] = []
  const start = performance.now()
  const respond = (): { status: number; header: (name: string) => string | null } => {
    const now = performance.now() - start
    arrivals.push(now)
    const windowStart = sliding ? now - window : Math.floor(now / window) * window
    const used = accepted.filter((at) => at >= windowStart)
    const isOver = used.length >= quota
    ;(isOver ? refused : accepted).push(now)
    const remaining = Math.max(0, quota - used.length - 1)
    const reset = (sliding ? (used[0] ?? now) : windowStart) + window - now
    const headers: Record<string, string> = {
      ratelimit: `"default";r=${remaining};t=${Math.ceil(reset / 1_000)}`,
      'ratelimit-policy': `"default";q=${quota};w=${window / 1_000}`,
    }
    return {
      status: isOver ? 429 : 200,
      header: (name) => (says.includes(name) ? (headers[name] ?? null) : null),
    }
  }
  return {
    ...service,
    arrivals,
    refused,
    call: () =>
      api.send(async () => {
        await new Promise((resolve) => setTimeout(resolve, travel))
        const response = respond()
        await new Promise((resolve) => setTimeout(resolve, travel))
        return { ...response, result: response.status, discard() {} }
      }),
  }
}

test('an API that says that nothing remains gets no call until its reset, without a 429', async () => {
  const { call, refused, arrivals, tokens, eventsOf } = serverWith(
    { quota: 3, window: 10_000 },
    { limits: [{ quota: 60, window: 60_000 }] },
  )
  await tokens.warmUp()
  for (let made = 0; made < 3; made += 1) await Promise.all([call(), pass(2 * travel)])
  const held = call()
  await pass(0)
  expect(tokens.status().apis[0]).toMatchObject({ queued: 1, pausedUntil: expect.stringContaining('2026') })
  expect(eventsOf('api.paused')).toMatchObject([{ api: baseUrl, status: 200, reason: 'used-up' }])
  await pass(11_000)
  await held
  expect(refused).toEqual([])
  expect(arrivals.at(-1)).toBeGreaterThan(10_000)
})

test('responses that report the same pause within a millisecond make one event of whole milliseconds', async () => {
  const service = fakeService(
    {},
    { apis: [{ baseUrl, issuer: 'general', ratePolicy: { limits: [{ quota: 60, window: 60_000 }] } }] },
  )
  await service.tokens.warmUp()
  const api = service.tokens.route(baseUrl) as Api
  for (const call of await Promise.all([api.admit(), api.admit()])) {
    const reset = `0.9999${service.eventsOf('api.paused').length}`
    call.report({ status: 200, header: (name) => (name === 'ratelimit' ? `"a";r=0;t=${reset}` : null) })
  }
  expect(service.eventsOf('api.paused')).toMatchObject([{ for: 1_000 }])
})

test('a reset is waited for no longer than the longest window of the policy', async () => {
  const { call, arrivals, tokens } = serverWith(
    { quota: 1, window: 3_600_000 },
    { limits: [{ quota: 5, window: 2_000 }] },
  )
  await tokens.warmUp()
  await Promise.all([call(), pass(2 * travel)])
  void call()
  await pass(3_000)
  expect(arrivals).toEqual([travel, 2 * travel + 2_000 + travel])
})

test('a later response that says that calls remain ends the pause', async () => {
  const service = fakeService(
    {},
    { apis: [{ baseUrl, issuer: 'general', ratePolicy: { limits: [{ quota: 60, window: 60_000 }] } }] },
  )
  await service.tokens.warmUp()
  const api = service.tokens.route(baseUrl) as Api
  const [first, second] = await Promise.all([api.admit(), api.admit()])
  if (!first || !second) throw new Error('no pass')
  const says = (remaining: number) => ({
    status: 200,
    header: (name: string) => (name === 'ratelimit' ? `"default";r=${remaining};t=30` : null),
  })
  first.report(says(0))
  expect(service.tokens.status().apis[0]).toHaveProperty('pausedUntil')
  second.report(says(5))
  expect(service.tokens.status().apis[0]).not.toHaveProperty('pausedUntil')
  // older news
  first.report(says(0))
  expect(service.tokens.status().apis[0]).not.toHaveProperty('pausedUntil')
})

test('a later response that says that calls remain does not take back the pause of a refusal', async () => {
  const service = fakeService(
    {},
    { apis: [{ baseUrl, issuer: 'general', ratePolicy: { limits: [{ quota: 60, window: 60_000 }] } }] },
  )
  await service.tokens.warmUp()
  const api = service.tokens.route(baseUrl) as Api
  const [first, second] = await Promise.all([api.admit(), api.admit()])
  const header = (remaining: number) => (name: string) =>
    name === 'ratelimit' ? `"default";r=${remaining};t=30` : null
  const pause = (): number => Date.parse(service.tokens.status().apis[0]?.pausedUntil ?? '') - Date.now()
  first?.report({ status: 429, retryAfter: '7', header: header(0) })
  expect(pause()).toBe(30_000)
  second?.report({ status: 200, header: header(5) })
  expect(pause()).toBe(7_000)
})

test.each([
  ['a fixed window', false],
  ['a sliding window', true],
])('%s that keeps the configured policy and says so slows nothing down', async (_what, sliding) => {
  const took: number[] = []
  for (const says of [[], ['ratelimit', 'ratelimit-policy']]) {
    const limit = { quota: 25, window: 1_000 }
    const { call, arrivals, refused, tokens, eventsOf } = serverWith(
      limit,
      { limits: [limit], spread: true },
      { sliding, says },
    )
    await tokens.warmUp()
    const calls = Promise.all(Array.from({ length: 500 }, () => call()))
    await pass(60_000)
    await calls
    expect(refused).toEqual([])
    expect(eventsOf('policy.differs')).toEqual([])
    took.push((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0))
  }
  expect((took[1] ?? 0) / (took[0] ?? 0)).toBeLessThan(1.01)
})

test('a batch against half of the configured policy: 429s only until the API has said so', async () => {
  const counts: number[] = []
  for (const says of [[], ['ratelimit', 'ratelimit-policy'], ['ratelimit']]) {
    const { call, refused, tokens, eventsOf } = serverWith(
      { quota: 25, window: 1_000 },
      { limits: [{ quota: 50, window: 1_000 }] },
      { says },
    )
    await tokens.warmUp()
    const calls = Promise.all(Array.from({ length: 1_000 }, () => call()))
    await pass(200_000)
    await calls
    counts.push(refused.length)
    expect(eventsOf('policy.differs')).toHaveLength(says.includes('ratelimit-policy') ? 1 : 0)
    // not above the API's limit, but for one step upwards
    const quotas = eventsOf('api.paused').flatMap(({ allows = [] }) => allows.map((limit) => limit.quota))
    expect(Math.max(...quotas)).toBeLessThan(25 * 1.2)
  }
  expect(Math.max(...counts.slice(1))).toBeLessThanOrEqual(25)
})

test('another policy in the headers is reported once for each difference', async () => {
  const service = fakeService(
    {},
    {
      apis: [
        {
          baseUrl,
          issuer: 'general',
          ratePolicy: {
            limits: [
              { quota: 25, window: 1_000 },
              { quota: 500, window: 60_000 },
            ],
          },
        },
      ],
    },
  )
  await service.tokens.warmUp()
  const api = service.tokens.route(baseUrl) as Api
  const report = async (policy: string): Promise<void> => {
    const call = api.send(async () => ({
      status: 200,
      header: (name) => (name === 'ratelimit-policy' ? policy : null),
      result: 200,
      discard() {},
    }))
    await Promise.all([call, pass(200)])
  }
  await report('"second";q=25;w=1, "minute";q=500;w=60')
  await report('"second";q=25;w=1')
  expect(service.eventsOf('policy.differs')).toEqual([])
  await report('"second";q=10;w=1, "minute";q=500;w=60')
  await report('"second";q=10;w=1')
  await report('"second";q=12;w=1')
  await report('"second";q=10;w=1')
  expect(service.eventsOf('policy.differs')).toEqual([
    {
      type: 'policy.differs',
      api: baseUrl,
      configured: [
        { quota: 25, window: 1_000 },
        { quota: 500, window: 60_000 },
      ],
      seen: [
        { quota: 10, window: 1_000 },
        { quota: 500, window: 60_000 },
      ],
    },
    expect.objectContaining({ seen: [{ quota: 12, window: 1_000 }] }),
  ])
  for (let quota = 100; quota < 200; quota += 1) await report(`${quota};w=1`)
  expect(service.eventsOf('policy.differs').length).toBeLessThanOrEqual(16)
})

test('with `rateLimitHeaders: false` only Retry-After pauses, and no difference is reported', async () => {
  const service = fakeService(
    {},
    {
      apis: [
        {
          baseUrl,
          issuer: 'general',
          ratePolicy: { limits: [{ quota: 1_000, window: 60_000 }], rateLimitHeaders: false },
        },
      ],
    },
  )
  await service.tokens.warmUp()
  const api = service.tokens.route(baseUrl) as Api
  const headers: Record<string, string> = { ratelimit: '"a";r=0;t=9', 'ratelimit-policy': '"a";q=1;w=60' }
  const report = async (status: number, retryAfter?: string): Promise<void> => {
    const taken = await api.admit()
    taken.report({ status, retryAfter, header: (name) => headers[name] })
    taken.release()
  }
  await report(200)
  expect(service.tokens.status().apis[0]).not.toHaveProperty('pausedUntil')
  await report(429)
  await pass(1_000)
  await report(429, '7')
  expect(service.eventsOf('api.paused').map((event) => event.for)).toEqual([1_000, 7_000])
  expect(service.eventsOf('policy.differs')).toEqual([])
})
