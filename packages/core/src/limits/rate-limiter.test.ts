import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fakeService, type FakeService } from '../../test/fake-issuer.ts'
import type { Claim, LimitedApi, Permit, RateLimiter, Usage, Word } from '../fleet.ts'

beforeEach(() => vi.useFakeTimers({ now: Date.UTC(2026, 10, 21) }))
afterEach(() => vi.useRealTimers())

/** A limiter with as many units as the test says. */
class FakeLimiter implements RateLimiter {
  units = 0
  readonly wanted: number[] = []
  readonly claims: Claim[] = []
  readonly told: string[] = []
  readonly words: Word[] = []
  readonly forecast = (): number => 0

  take(claim: Claim, wanted: number): Permit | number {
    this.claims.push(claim)
    this.wanted.push(wanted)
    if (this.units === 0 || wanted === 0) return Infinity
    this.units -= 1
    const tell = (what: string) => () => void this.told.push(what)
    return { answered: tell('answered'), ended: tell('ended'), cancel: tell('cancel') }
  }

  usage(): Usage {
    return { used: undefined, lag: 0, arrivesWithin: undefined }
  }

  tell(word: Word): void {
    this.words.push(word)
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
  expect(api.baseUrl).toBe('https://api.example.com/')
  await tokens.warmUp()
  const calls = Promise.all([call(), call(), call()])
  await vi.advanceTimersByTimeAsync(0)
  // one, and then as many as there are slots
  expect(limiter.wanted.at(-1)).toBe(2)
  expect(limiter.claims.at(-1)).toMatchObject({ cost: 1, limits: [{ series: '', quota: 5, window: 1_000 }] })
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
  expect(limiter.wanted.at(-1)).toBe(0)
})

/** The word of another process that the API is paused. */
const paused = (ms: number): Word => ({
  about: 'pause',
  text: JSON.stringify({ ms, reason: 'refused', isTried: true, row: 1 }),
  for: ms + 5_000,
})

test('a pause is passed on to the limiter, and one of another process shows and holds here', async () => {
  const { limiter, api, call, tokens } = shared()
  limiter.units = 2
  await call(undefined, 429)
  expect(limiter.words).toMatchObject([{ about: 'pause', for: 6_000 }])
  await vi.advanceTimersByTimeAsync(1_000)
  api.heard(paused(700))
  const later = call()
  await vi.advanceTimersByTimeAsync(699)
  expect(tokens.status().apis[0]).toMatchObject({ queued: 1, pausedUntil: '2026-11-21T00:00:01.700Z' })
  expect(limiter.units).toBe(1)
  await vi.advanceTimersByTimeAsync(2)
  expect(await later).toBe(200)
})

test('after a pause one call of the fleet tries: a limit of one unit, until a process says that the API accepts calls', async () => {
  const { limiter, api, call, tokens } = shared()
  await tokens.warmUp()
  api.heard(paused(1_000))
  const calls = Promise.all([call(), call()])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(limiter.claims.at(-1)?.limits).toMatchObject([{ series: '' }, { series: 'trial', quota: 1 }])
  api.heard({ about: 'pause', text: '', for: 0 })
  await vi.advanceTimersByTimeAsync(0)
  expect(limiter.claims.at(-1)?.limits).toMatchObject([{ series: '' }])
  limiter.units = 2
  api.unitsAvailable()
  expect(await calls).toEqual([200, 200])
})

test('a pause that is lifted here is lifted for the fleet, and one that is lifted elsewhere is over here', async () => {
  const { limiter, api, call, tokens } = shared()
  limiter.units = 3
  await call(undefined, 429)
  tokens.resume('https://api.example.com/')
  expect(limiter.words.at(-1)).toEqual({ about: 'pause', text: '', for: 0 })
  expect(await call()).toBe(200)
  api.heard(paused(60_000))
  const later = call()
  await vi.advanceTimersByTimeAsync(1)
  expect(limiter.units).toBe(1)
  api.heard({ about: 'pause', text: '', for: 0 })
  expect(await later).toBe(200)
})

test('a pause that another process was told of is bounded like our own', async () => {
  const { api, tokens } = shared()
  for (const ms of [Number.NaN, -5, 1e300, Infinity]) api.heard({ ...paused(1_000), for: ms })
  expect(tokens.status().apis[0]).toMatchObject({ pausedUntil: '2026-11-21T00:05:00.000Z' })
})

test.each(['pause', 'pace', 'policy'] as const)(
  'a word about the %s that none of ours has written is ignored',
  (about) => {
    const { api, tokens } = shared()
    const before = tokens.status()
    for (const text of [
      '',
      '{',
      'null',
      '7',
      '[]',
      '[null]',
      '{"limits":7}',
      '[{"quota":"x"},{}]',
      '{"ms":"soon"}',
    ])
      api.heard({ about, text, for: 10_000 })
    expect(tokens.status()).toEqual(before)
  },
)

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

test('another policy goes with the next call, and to all other processes', async () => {
  const { limiter, api, call, tokens } = shared()
  limiter.units = 2
  tokens.setRatePolicy('https://api.example.com/', { limits: [{ quota: 7, window: 500 }] })
  await call()
  expect(limiter.claims.at(-1)?.limits).toEqual([{ series: '', quota: 7, window: 500 }])
  const [word] = limiter.words
  expect(word).toMatchObject({ about: 'policy', for: Infinity })
  tokens.setRatePolicy('https://api.example.com/', { limits: [] })
  api.heard(word as Word)
  await call()
  expect(limiter.claims.at(-1)?.limits).toEqual([{ series: '', quota: 7, window: 500 }])
})

test('a claim has the same array of limits until another one holds, however long that takes', async () => {
  const { limiter, call, tokens } = shared()
  limiter.units = 3
  await call()
  await vi.advanceTimersByTimeAsync(600_000)
  await call()
  const [first, second] = limiter.claims
  expect(second?.limits).toBe(first?.limits)
  tokens.setRatePolicy('https://api.example.com/', { limits: [{ quota: 5, window: 1_000 }] })
  await call()
  expect(limiter.claims.at(-1)?.limits).not.toBe(first?.limits)
})

test('a pace that goes up by what other processes got holds for the next call', async () => {
  const { limiter, api, call } = shared()
  limiter.units = 2
  const found = { window: 1_000, isNoise: false, patience: 10, taken: [] }
  api.heard({ about: 'pace', text: JSON.stringify([found, { ...found, quota: 5, calls: 3.8 }]), for: 10_000 })
  await call()
  expect(limiter.claims.at(-1)?.limits).toMatchObject([{ quota: 3 }])
  await vi.advanceTimersByTimeAsync(11_000)
  api.counted(1, 0)
  await call()
  expect(limiter.claims.at(-1)?.limits).toMatchObject([{ quota: 4 }])
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
  for (const limiter of [
    {},
    'redis',
    null,
    () => undefined,
    () => ({}),
    () => ({ take() {}, forecast() {} }),
  ])
    expect(() => fakeService({}, { apis, limiter: limiter as never })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS' }),
    )
})
