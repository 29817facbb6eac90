import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fakeService, type FakeService } from '../../test/fake-issuer.ts'
import type { LimitedApi, Permit, RateLimiter, RateLimiterOptions } from '../fleet.ts'

beforeEach(() => vi.useFakeTimers({ now: Date.UTC(2026, 10, 21) }))
afterEach(() => vi.useRealTimers())

/** A limiter with as many units as the test says. */
class FakeLimiter implements RateLimiter {
  units = 0
  readonly couldUse: number[] = []
  readonly told: string[] = []
  readonly forecast = (): number => 0
  readonly noWaiters = (): unknown => this.told.push('noWaiters')
  readonly pause = (ms: number): unknown => this.told.push(`pause ${ms}`)
  readonly resume = (): unknown => this.told.push('resume')
  readonly setPolicy?: (policy: RateLimiterOptions) => void = ({ limits }) =>
    void this.told.push(`policy ${JSON.stringify(limits)}`)

  take(couldUse: number): Permit | number {
    this.couldUse.push(couldUse)
    if (this.units === 0) return Infinity
    this.units -= 1
    const tell = (what: string) => () => void this.told.push(what)
    return { answered: tell('answered'), ended: tell('ended'), cancel: tell('cancel') }
  }

  async close(): Promise<void> {
    this.told.push('close')
  }
}

function shared(): FakeService & {
  limiter: FakeLimiter
  api: LimitedApi
  call: (signal?: AbortSignal, status?: number) => Promise<number>
} {
  const limiter = new FakeLimiter()
  const made: LimitedApi[] = []
  const service = fakeService(
    {},
    {
      apis: [
        {
          baseUrl: 'https://api.example.com/',
          issuer: 'general',
          ratePolicy: { limits: [{ quota: 5, window: 1_000 }], concurrency: 2 },
        },
      ],
      limiter(api) {
        made.push(api)
        return limiter
      },
    },
  )
  const send = service.tokens
    .route('https://api.example.com/')
    ?.send.bind(service.tokens.route('https://api.example.com/'))
  if (made[0] === undefined || send === undefined) throw new Error('no limiter was made')
  return {
    ...service,
    limiter,
    api: made[0],
    call: (signal, status = 200) =>
      send(async () => ({ status, result: status, discard() {} }), { signal, replayable: false }),
  }
}

test('calls wait until the limiter says that units are available, and it hears how many could go', async () => {
  const { limiter, api, call, tokens } = shared()
  expect(api).toMatchObject({ baseUrl: 'https://api.example.com/', limits: [{ quota: 5, window: 1_000 }] })
  await tokens.warmUp()
  const calls = Promise.all([call(), call(), call()])
  await vi.advanceTimersByTimeAsync(0)
  // one, and then as many as there are slots
  expect(limiter.couldUse.at(-1)).toBe(2)
  limiter.units = 3
  api.unitsAvailable()
  expect(await calls).toEqual([200, 200, 200])
  expect(limiter.told.filter((each) => each === 'answered')).toHaveLength(3)
  await tokens.close()
  expect(limiter.told.at(-1)).toBe('close')
})

test('a limiter hears that no call waits any more', async () => {
  const { limiter, call, tokens } = shared()
  await tokens.warmUp()
  const controller = new AbortController()
  const calls = [call(controller.signal), call(controller.signal)]
  const ended = Promise.allSettled(calls)
  controller.abort()
  await ended
  expect(limiter.told).toEqual(['noWaiters'])
})

test('a pause is passed on to the limiter, and one of another process shows and holds here', async () => {
  const { limiter, api, call, tokens } = shared()
  limiter.units = 2
  await call(undefined, 429)
  expect(limiter.told).toContain('pause 1000')
  await vi.advanceTimersByTimeAsync(1_000)
  api.paused(700)
  const later = call()
  await vi.advanceTimersByTimeAsync(699)
  expect(tokens.status().apis[0]).toMatchObject({ queued: 1, pausedUntil: '2026-11-21T00:00:01.700Z' })
  expect(limiter.units).toBe(1)
  await vi.advanceTimersByTimeAsync(2)
  expect(await later).toBe(200)
})

test('a pause that is lifted here is lifted for the fleet, and one that is lifted elsewhere is over here', async () => {
  const { limiter, api, call, tokens } = shared()
  limiter.units = 3
  await call(undefined, 429)
  tokens.resume('https://api.example.com/')
  expect(limiter.told.at(-1)).toBe('resume')
  expect(await call()).toBe(200)
  api.paused(60_000)
  const later = call()
  await vi.advanceTimersByTimeAsync(1)
  expect(limiter.units).toBe(1)
  api.resumed()
  expect(await later).toBe(200)
  expect(limiter.told.filter((each) => each === 'resume')).toHaveLength(1)
})

test('a pause that another process was told of is bounded like our own', async () => {
  const { api, tokens } = shared()
  for (const ms of [Infinity, 1e300, Number.NaN, -5]) api.paused(ms)
  expect(tokens.status().apis[0]).toMatchObject({ pausedUntil: '2026-11-21T00:05:00.000Z' })
})

test('a limiter that answers NaN and Infinity lets no event and no status carry them', async () => {
  const { limiter, api, call, tokens, events } = shared()
  Object.assign(limiter, { forecast: () => Infinity })
  await tokens.warmUp()
  const calls = [call(), call()]
  expect(tokens.status().apis[0]).toMatchObject({ queued: 2, emptyAt: expect.stringMatching(/^3026/) })
  Object.assign(limiter, { forecast: () => Number.NaN, take: () => Number.NaN })
  api.unitsAvailable()
  await vi.advanceTimersByTimeAsync(5)
  expect(JSON.stringify(events)).not.toContain('null')
  delete (limiter as Partial<FakeLimiter>).take
  limiter.units = 2
  await vi.advanceTimersByTimeAsync(5)
  expect(await Promise.all(calls)).toEqual([200, 200])
})

test('another policy goes to the limiter, and a limiter that cannot take one is refused it', () => {
  const { limiter, tokens } = shared()
  const policy = { limits: [{ quota: 7, window: 500 }] }
  tokens.setRatePolicy('https://api.example.com/', policy)
  expect(limiter.told).toEqual(['policy [{"quota":7,"window":500}]'])
  Object.assign(limiter, { setPolicy: undefined })
  expect(() => tokens.setRatePolicy('https://api.example.com/', policy)).toThrow(/`limiter\(\).setPolicy`/)
})

test('a limiter that fails and recovers makes events', () => {
  const { api, events } = shared()
  api.failed('no answer in 500 ms')
  api.recovered()
  expect(events).toEqual([
    { type: 'limiter.failed', api: 'https://api.example.com/', reason: 'no answer in 500 ms' },
    { type: 'limiter.recovered', api: 'https://api.example.com/' },
  ])
})

test('while the shared budget fails, the status says so, and so does a call that waits too long', async () => {
  const { api, call, tokens } = shared()
  tokens.setRatePolicy('https://api.example.com/', { limits: [{ quota: 5, window: 1_000 }], maxWait: 100 })
  await tokens.warmUp()
  api.failed('READONLY')
  expect(tokens.status().apis[0]).toMatchObject({ limiterFailure: 'READONLY' })
  const late = call().catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(100)
  expect(await late).toMatchObject({
    code: 'QUEUE_TIMEOUT',
    api: 'https://api.example.com/',
    message: expect.stringMatching(
      /\(cause: limit\); .* is 100 ms; the shared rate budget failed \(READONLY\) \(see/,
    ) as string,
  })
  api.recovered()
  expect(tokens.status().apis[0]).not.toHaveProperty('limiterFailure')
  const later = expect(call()).rejects.toThrow(/is 100 ms \(see/)
  await vi.advanceTimersByTimeAsync(100)
  await later
})

test('a value that is not a factory, and a factory that makes no limiter, are refused at start-up', () => {
  const ratePolicy = { limits: [{ quota: 5, window: 1_000 }] }
  const apis = [{ baseUrl: 'https://api.example.com/', issuer: 'general', ratePolicy }]
  for (const limiter of [{}, 'redis', null, () => undefined, () => ({}), () => ({ take() {} })])
    expect(() => fakeService({}, { apis, limiter: limiter as never })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS' }),
    )
})
