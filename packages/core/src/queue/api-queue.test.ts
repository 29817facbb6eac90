import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { client, fakeService, type FakeService, unavailable } from '../../test/fake-issuer.ts'
import type { Api, RatePolicy } from '../index.ts'
import type { Exchange } from '../adapter.ts'
import { createTokenManager, generalIssuer } from '../index.ts'

beforeEach(() => vi.useFakeTimers({ now: Date.UTC(2026, 10, 21) }))
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

/** An API with this policy, whose answers take 10 ms and say what they are told to. */
function limitedApi(ratePolicy: RatePolicy): FakeService & {
  api: Api
  sentAt: number[]
  call: (options?: {
    signal?: AbortSignal
    priority?: number
    sentBefore?: boolean
    name?: string
  }) => Promise<string>
  order: string[]
  answers: Partial<Exchange<string>>[]
} {
  const service = fakeService(
    {},
    { apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general', ratePolicy }] },
  )
  const api = service.tokens.route('https://api.example.com/')
  if (api === undefined) throw new Error('no API')
  const sentAt: number[] = []
  const order: string[] = []
  const answers: Partial<Exchange<string>>[] = []
  const start = performance.now()
  return {
    ...service,
    api,
    sentAt,
    order,
    answers,
    call: ({ name = '', ...options } = {}) =>
      api.send(async (authorization) => {
        sentAt.push(performance.now() - start)
        order.push(name)
        const answer = answers.shift()
        await new Promise((resolve) => setTimeout(resolve, 10))
        return { status: 200, result: authorization, discard() {}, ...answer }
      }, options),
  }
}

const idle = { queued: 0, running: 0 }

test('25 calls a second go out in each second, and no more', async () => {
  const { call, sentAt, tokens } = limitedApi({ limits: [{ quota: 25, window: 1_000 }] })
  const calls = Promise.all(Array.from({ length: 100 }, () => call()))
  await pass(5_000)
  await calls
  expect(sentAt).toHaveLength(100)
  for (let last = 25; last < 100; last += 1)
    expect((sentAt[last] ?? 0) - (sentAt[last - 25] ?? 0)).toBeGreaterThan(1_000)
  expect(sentAt.at(-1)).toBeLessThan(3_100)
  expect(tokens.status().apis[0]).toMatchObject(idle)
})

test('spread sends one by one', async () => {
  const { call, sentAt } = limitedApi({ limits: [{ quota: 10, window: 1_000 }], spread: true })
  const calls = Promise.all(Array.from({ length: 10 }, () => call()))
  await pass(2_000)
  await calls
  const gaps = sentAt.slice(1).map((at, index) => at - (sentAt[index] ?? 0))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(100)
  expect(Math.max(...gaps)).toBeLessThan(105)
})

test('no more than `concurrency` calls are under way, with a 401 retry inside of a slot too', async () => {
  const { call, issuer, tokens, answers } = limitedApi({ limits: [], concurrency: 1 })
  answers.push({}, { status: 401 })
  const calls = Promise.all(Array.from({ length: 5 }, () => call()))
  await pass(0)
  expect(tokens.status().apis[0]).toMatchObject({ queued: 4, running: 1 })
  await pass(100)
  await calls
  expect(issuer.count).toBe(2)
  expect(tokens.status().apis[0]).toMatchObject(idle)
})

test('a higher priority goes first, equal ones in order, and a 401 retry before all', async () => {
  const { call, order, answers } = limitedApi({ limits: [], concurrency: 1 })
  answers.push({ status: 401 })
  const calls = Promise.all([
    call({ name: 'first' }),
    call({ name: 'a' }),
    call({ name: 'b' }),
    call({ name: 'urgent', priority: 5 }),
    call({ name: 'c' }),
    call({ name: 'later', priority: -1 }),
  ])
  await pass(200)
  await calls
  // there was no token yet, so the first call was queued too
  expect(order).toEqual(['urgent', 'urgent', 'first', 'a', 'b', 'c', 'later'])
})

test('a call that waits past the end of its token is sent with a new one', async () => {
  const { call, issuer } = limitedApi({ limits: [{ quota: 1, window: 40 * 60_000 }] })
  const calls = Promise.all([call(), call(), call()])
  await pass(90 * 60_000)
  expect(await calls).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2'])
  expect(issuer.count).toBe(2)
})

test.each([
  ['1', 1_000],
  ['Sat, 21 Nov 2026 00:00:07 GMT', 7_000],
])('a 429 pauses the API for Retry-After %s, and loses nothing', async (retryAfter, pause) => {
  const { call, sentAt, answers, eventsOf, tokens } = limitedApi({ limits: [], concurrency: 2 })
  await tokens.warmUp()
  answers.push({ status: 429, retryAfter })
  const calls = Promise.all(Array.from({ length: 6 }, () => call()))
  await pass(20)
  expect(tokens.status().apis[0]).toMatchObject({ running: 0, pausedUntil: expect.stringContaining('2026') })
  await pass(60_000)
  await calls
  expect(sentAt).toHaveLength(7)
  expect(sentAt.filter((at) => at > 10 && at < pause)).toEqual([])
  expect(eventsOf('api.paused')).toMatchObject([{ api: 'https://api.example.com/', status: 429 }])
})

test('without Retry-After the pauses grow, and after 3 more tries the 429 is the caller\u2019s', async () => {
  const { api, eventsOf } = limitedApi({ limits: [] })
  let sends = 0
  const call = api.send(async () => {
    sends += 1
    return { status: 429, result: 429, discard() {} }
  })
  await pass(60_000)
  await expect(call).resolves.toBe(429)
  expect(sends).toBe(4)
  const pauses = eventsOf('api.paused').map((event) => event.for)
  expect(pauses).toEqual(pauses.toSorted((a, b) => a - b))
})

test('a 429 of an API without a policy is the caller\u2019s', async () => {
  const { tokens } = fakeService()
  const call = tokens
    .route('https://api.example.com/')
    ?.send(async () => ({ status: 429, result: 429, discard() {} }))
  await expect(call).resolves.toBe(429)
})

test('one more than maxQueued is refused at once, with a token or without', async () => {
  const { call } = limitedApi({ limits: [], concurrency: 1, maxQueued: 2 })
  const calls = Promise.all([call(), call(), call()])
  await expect(call()).rejects.toMatchObject({ code: 'QUEUE_FULL' })
  await pass(1)
  await expect(call()).rejects.toMatchObject({ code: 'QUEUE_FULL' })
  await pass(100)
  await calls
})

test('a call that was sent before goes before queued calls, and is not refused for them', async () => {
  const { call, order } = limitedApi({ limits: [], concurrency: 1, maxQueued: 1, maxWait: 1_000 })
  const calls = [call({ name: 'first' }), call({ name: 'waiting' })]
  calls.push(call({ name: 'redirected', sentBefore: true }))
  await pass(100)
  await Promise.all(calls)
  expect(order).toEqual(['redirected', 'first', 'waiting'])
})

test('a call that waited for maxWait is refused, and 1 ms earlier is not', async () => {
  const { call, api, tokens } = limitedApi({ limits: [], concurrency: 1, maxWait: 100 })
  const pass1 = await api.admit()
  let settled = false
  const refused = expect(call().finally(() => (settled = true))).rejects.toMatchObject({
    code: 'QUEUE_TIMEOUT',
  })
  await pass(99)
  expect(settled).toBe(false)
  await pass(1)
  await refused
  pass1.release()
  expect(tokens.status().apis[0]).toMatchObject(idle)
})

test('a call that would wait longer than maxWait by the limits alone is refused at once', async () => {
  const { call, tokens } = limitedApi({ limits: [{ quota: 10, window: 1_000 }], maxWait: 1_500 })
  await tokens.warmUp()
  const calls = Promise.allSettled(Array.from({ length: 25 }, () => call()))
  await pass(0)
  await pass(5_000)
  const refused = (await calls).filter(({ status }) => status === 'rejected')
  expect(refused).toHaveLength(5)
  expect(refused[0]).toMatchObject({ reason: { code: 'QUEUE_TIMEOUT' } })
})

test('a call of a higher priority is not refused for the queued calls that it goes before', async () => {
  const { call, tokens, order } = limitedApi({ limits: [{ quota: 1, window: 1_000 }], maxWait: 3_500 })
  await tokens.warmUp()
  const background = Promise.allSettled(
    Array.from({ length: 4 }, (_, index) => call({ priority: -1, name: `${index}` })),
  )
  await expect(call({ priority: -1 })).rejects.toMatchObject({ code: 'QUEUE_TIMEOUT' })
  const urgent = call({ name: 'urgent' })
  await pass(5_000)
  await urgent
  expect(order).toEqual(['0', 'urgent', '1', '2'])
  // the last one waited too long, because the urgent one went before it
  expect(await background).toMatchObject([
    { status: 'fulfilled' },
    { status: 'fulfilled' },
    { status: 'fulfilled' },
    { status: 'rejected', reason: { code: 'QUEUE_TIMEOUT' } },
  ])
})

test.each([
  ['310 digits', '9'.repeat(310)],
  ['an epoch of the year 2100', '4102444800'],
  ['300,001 s', '300001'],
  ['no number', '1e3'],
])(
  'a Retry-After of %s pauses for the longest pause at most, and status and events stay finite',
  async (_what, retryAfter) => {
    const { call, answers, tokens, events } = limitedApi({
      limits: [{ quota: 5, window: 1_000 }],
      concurrency: 1,
      maxWait: 1e12,
    })
    await tokens.warmUp()
    answers.push({ status: 429, retryAfter })
    const calls = Promise.all([call(), call()])
    await pass(20)
    const { queued, pausedUntil = '', emptyAt = '' } = tokens.status().apis[0] ?? {}
    expect(queued).toBe(2)
    expect(Date.parse(pausedUntil)).toBeLessThanOrEqual(Date.now() + 300_000)
    expect(Date.parse(emptyAt)).toBeLessThanOrEqual(Date.now() + 300_000)
    expect(JSON.stringify(events)).not.toContain('null')
    await pass(300_100)
    await calls
  },
)

test('after a pause one call tries, and the others go when it is answered', async () => {
  const { call, answers, sentAt, tokens } = limitedApi({ limits: [], longestPause: 5_000 })
  await tokens.warmUp()
  answers.push({ status: 429, retryAfter: '86400' }, {}, { status: 429, retryAfter: '86400' })
  const calls = Promise.all([call(), call()])
  await pass(20)
  const later = Promise.all([call(), call(), call()])
  await pass(5_000 - 11)
  expect(sentAt).toHaveLength(2)
  await pass(1)
  // refused again: the pause begins anew
  expect(sentAt).toHaveLength(3)
  await pass(5_009)
  expect(sentAt).toHaveLength(3)
  await pass(2)
  expect(sentAt).toHaveLength(4)
  await pass(9)
  expect(sentAt).toHaveLength(7)
  await pass(10)
  await Promise.all([calls, later])
})

test('a call that tries and gets no response holds up the others for 5 s at most', async () => {
  const { api, call, sentAt, tokens } = limitedApi({ limits: [] })
  await tokens.warmUp()
  const refused = await api.admit()
  refused.report({ status: 429, retryAfter: '1' })
  refused.release()
  const stuck = api.admit()
  const next = call()
  await pass(1_000)
  await stuck
  await pass(4_999)
  expect(sentAt).toHaveLength(0)
  await pass(1)
  expect(sentAt).toHaveLength(1)
  await pass(10)
  await next
})

test('a call that was to try and is released unsent lets another one try, and only one', async () => {
  const { api, call, sentAt, tokens } = limitedApi({ limits: [] })
  await tokens.warmUp()
  const refused = await api.admit()
  refused.report({ status: 429, retryAfter: '1' })
  refused.release()
  const unsent = api.admit()
  const others = Promise.all([call(), call(), call()])
  await pass(1_000)
  expect(sentAt).toHaveLength(0)
  ;(await unsent).release()
  await pass(0)
  expect(sentAt).toHaveLength(1)
  await pass(10)
  expect(sentAt).toHaveLength(3)
  await pass(10)
  await others
})

test('a pause is lifted by resume, and what is queued goes at once', async () => {
  const { call, answers, sentAt, tokens } = limitedApi({ limits: [] })
  await tokens.warmUp()
  answers.push({ status: 429, retryAfter: '300' })
  const calls = Promise.all([call(), pass(10).then(() => call()), pass(10).then(() => call())])
  await pass(1_000)
  expect(sentAt).toHaveLength(1)
  tokens.resume('https://api.example.com')
  expect(tokens.status().apis[0]).not.toHaveProperty('pausedUntil')
  await pass(0)
  expect(sentAt).toHaveLength(4)
  await pass(10)
  await calls
  for (const url of ['https://api.example.org/', 'https://api.example.com/v1', 'no URL'])
    expect(() => tokens.resume(url)).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
})

test('a date in Retry-After is compared with the clock of the API, which may be an hour off', async () => {
  const { call, answers, eventsOf, tokens } = limitedApi({ limits: [] })
  await tokens.warmUp()
  answers.push({
    status: 429,
    retryAfter: 'Sat, 21 Nov 2026 01:00:07 GMT',
    header: (name) => (name === 'date' ? 'Sat, 21 Nov 2026 01:00:00 GMT' : null),
  })
  const answer = call()
  await pass(8_000)
  await answer
  expect(eventsOf('api.paused')).toMatchObject([{ for: 7_000, status: 429, reason: 'refused' }])
})

test('a pause counts for maxWait, and so does the wait that the limits add to it', async () => {
  const { call, answers, tokens } = limitedApi({
    limits: [{ quota: 1, window: 1_000 }],
    spread: true,
    maxWait: 6_500,
  })
  await tokens.warmUp()
  answers.push({ status: 429, retryAfter: '5' })
  const first = call()
  await pass(20)
  const second = call()
  await expect(call()).rejects.toMatchObject({ code: 'QUEUE_TIMEOUT' })
  await pass(7_000)
  await Promise.all([first, second])
})

test('an abort while queued ends the wait at once and leaves nothing behind', async () => {
  const { call, tokens, sentAt } = limitedApi({ limits: [{ quota: 1, window: 60_000 }] })
  await tokens.warmUp()
  const first = call()
  const controller = new AbortController()
  const aborted = call({ signal: controller.signal })
  await pass(10)
  await first
  expect(tokens.status().apis[0]).toMatchObject({ queued: 1 })
  controller.abort(new Error('enough'))
  await expect(aborted).rejects.toThrow('enough')
  expect(tokens.status().apis[0]).toMatchObject(idle)
  await pass(0)
  expect(vi.getTimerCount()).toBe(0)
  expect(sentAt).toHaveLength(1)
})

test('calls that are aborted leave nothing behind, and the other queued calls go on in order', async () => {
  const { call, tokens, order } = limitedApi({ limits: [], concurrency: 1 })
  await tokens.warmUp()
  const first = call({ name: 'first' })
  const shared = new AbortController()
  const calls = Promise.allSettled(
    Array.from({ length: 90 }, (_, index) =>
      call({ name: `${index}`, ...(index % 3 > 0 && { signal: shared.signal }) }),
    ),
  )
  const lastController = new AbortController()
  const last = call({ name: 'last', signal: lastController.signal })
  expect(getEventListeners(shared.signal, 'abort')).toHaveLength(1)
  shared.abort(new Error('enough'))
  expect(tokens.status().apis[0]).toMatchObject({ queued: 31, running: 1 })
  expect(getEventListeners(shared.signal, 'abort')).toEqual([])
  await pass(1_000)
  await Promise.all([first, last])
  expect((await calls).filter(({ status }) => status === 'rejected')).toHaveLength(60)
  expect(order).toEqual(['first', ...Array.from({ length: 30 }, (_, index) => `${index * 3}`), 'last'])
  expect(getEventListeners(lastController.signal, 'abort')).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
  expect(tokens.status().apis[0]).toMatchObject(idle)
})

test('calls that were under way together pass the limit together: one pause and one event', async () => {
  const { call, answers, eventsOf, tokens } = limitedApi({ limits: [], concurrency: 5 })
  await tokens.warmUp()
  answers.push(...Array.from({ length: 6 }, () => ({ status: 429 })))
  const calls = Promise.all(Array.from({ length: 5 }, () => call()))
  await pass(10_000)
  await calls
  expect(eventsOf('api.paused').map((event) => event.for)).toEqual([1_000, 2_000])
})

test('a change of the wall clock changes nothing', async () => {
  const { call, sentAt } = limitedApi({ limits: [{ quota: 1, window: 1_000 }], spread: true })
  const calls = Promise.all([call(), call(), call(), call()])
  await pass(500)
  vi.setSystemTime(Date.UTC(2026, 10, 20, 23))
  await pass(1_500)
  vi.setSystemTime(Date.UTC(2026, 10, 21, 0, 30))
  await pass(2_000)
  await calls
  for (const [index, at] of sentAt.entries()) expect(Math.abs(at - index * 1_012)).toBeLessThan(2)
})

test.each<[string, RatePolicy]>([
  ['spread', { limits: [{ quota: 25, window: 1_000 }], spread: true }],
  ['bursts', { limits: [{ quota: 25, window: 1_000 }] }],
  [
    'a burst and a long window',
    {
      limits: [
        { quota: 10, window: 1_000 },
        { quota: 300, window: 20_000 },
      ],
    },
  ],
  ['the send accounted', { limits: [{ quota: 25, window: 1_000 }], accounting: 'send' }],
])('with %s the estimate of the end is right from the start to within 5 %', async (_what, policy) => {
  const { call, tokens, sentAt } = limitedApi(policy)
  await tokens.warmUp()
  const calls = Promise.all(Array.from({ length: 1_000 }, () => call()))
  const start = Date.now()
  const expected = Date.parse(tokens.status().apis[0]?.emptyAt ?? '') - start
  await pass(120_000)
  await calls
  const real = sentAt.at(-1) ?? 0
  expect(Math.abs(expected - real) / real).toBeLessThan(0.05)
  expect(tokens.status().apis[0]).not.toHaveProperty('emptyAt')
})

test('slots count in the estimate by what calls took until now', async () => {
  const { call, tokens, sentAt, eventsOf } = limitedApi({ limits: [], concurrency: 3 })
  await tokens.warmUp()
  await Promise.all([call(), pass(10)])
  const calls = Promise.all(Array.from({ length: 300 }, () => call()))
  await pass(0)
  const { emptyIn = 0 } = eventsOf('call.queued').at(-1) ?? {}
  const start = sentAt.at(-1) ?? 0
  await pass(2_000)
  await calls
  expect(Math.abs(emptyIn / ((sentAt.at(-1) ?? 0) - start) - 1)).toBeLessThan(0.05)
})

test('a pause moves the estimate', async () => {
  const { call, answers, tokens } = limitedApi({ limits: [{ quota: 10, window: 1_000 }], spread: true })
  await tokens.warmUp()
  answers.push({ status: 429, retryAfter: '30' })
  const calls = Promise.all(Array.from({ length: 101 }, () => call()))
  await pass(20)
  const start = Date.now()
  expect(Date.parse(tokens.status().apis[0]?.emptyAt ?? '') - start).toBeCloseTo(40_000, -3)
  await pass(60_000)
  await calls
})

test('without a token every queued call fails with the reason', async () => {
  const { call, issuer, sentAt } = limitedApi({ limits: [{ quota: 1, window: 1_000 }] })
  issuer.respondWith(() => Response.json({ error: 'invalid_client' }, { status: 401 }))
  const calls = await Promise.allSettled([call(), call(), call()])
  for (const outcome of calls)
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'TOKEN_REQUEST_REFUSED' } })
  expect(issuer.count).toBe(1)
  expect(sentAt).toEqual([])
})

test('200 queued calls share one outcome of a refused client, and its provider is asked twice', async () => {
  let asked = 0
  const { tokens, issuer } = fakeService(
    {
      credentials: async () => {
        asked += 1
        await new Promise((resolve) => setTimeout(resolve, 50))
        return client
      },
    },
    {
      apis: [
        {
          baseUrl: 'https://api.example.com/',
          issuer: 'general',
          ratePolicy: { limits: [], concurrency: 2 },
        },
      ],
    },
  )
  issuer.respondWith(() => Response.json({ error: 'invalid_client' }, { status: 401 }))
  const api = tokens.route('https://api.example.com/') as Api
  const calls = Promise.allSettled(Array.from({ length: 200 }, () => api.admit()))
  await pass(150)
  const outcomes = await calls
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'TOKEN_REQUEST_REFUSED' } })
  expect(asked).toBe(2)
  expect(issuer.count).toBe(1)
})

test('close refuses queued calls, and lets a call under way end with its retry', async () => {
  const { call, answers, tokens } = limitedApi({ limits: [{ quota: 1, window: 1_000 }] })
  await tokens.warmUp()
  answers.push({ status: 401 })
  const underWay = call()
  const queued = expect(call()).rejects.toMatchObject({ code: 'MANAGER_CLOSED' })
  await pass(10)
  const closing = tokens.close()
  await queued
  await pass(2_000)
  await expect(underWay).resolves.toBe('Bearer token-2')
  await closing
})

test('events say how many calls are queued and how long each waited', async () => {
  const { call, tokens, events } = limitedApi({ limits: [{ quota: 1, window: 1_000 }] })
  await tokens.warmUp()
  events.length = 0
  const calls = Promise.all([call(), call()])
  await pass(2_000)
  await calls
  const api = 'https://api.example.com/'
  expect(events.filter(({ type }) => type !== 'call.finished')).toMatchObject([
    { type: 'call.sent', api, waited: 0, queued: 0 },
    { type: 'call.queued', api, queued: 1 },
    { type: 'call.sent', api, queued: 0 },
  ])
})

test.each<[string, unknown, string]>([
  ['a policy that is no object', 25, 'ratePolicy'],
  ['no limits', {}, 'ratePolicy.limits'],
  ['an option that does not exist', { limits: [], rpm: 3 }, 'ratePolicy.rpm'],
  ['a quota of 0', { limits: [{ quota: 0, window: 1 }] }, 'ratePolicy.limits[0].quota'],
  ['a window below 0', { limits: [{ quota: 1, window: -1 }] }, 'ratePolicy.limits[0].window'],
  ['half a slot', { limits: [], concurrency: 0.5 }, 'ratePolicy.concurrency'],
  ['another accounting', { limits: [], accounting: 'arrival' }, 'ratePolicy.accounting'],
  ['spread as text', { limits: [], spread: 'yes' }, 'ratePolicy.spread'],
  ['a negative maxQueued', { limits: [], maxQueued: -1 }, 'ratePolicy.maxQueued'],
  ['an endless maxWait', { limits: [], maxWait: Infinity }, 'ratePolicy.maxWait'],
  ['a longest pause of 0', { limits: [], longestPause: 0 }, 'ratePolicy.longestPause'],
  ['headers as text', { limits: [], rateLimitHeaders: 'no' }, 'ratePolicy.rateLimitHeaders'],
  ['a negative grace', { limits: [], unansweredGrace: -1 }, 'ratePolicy.unansweredGrace'],
  ['401 as limited', { limits: [], limitedStatuses: [401] }, 'ratePolicy.limitedStatuses[0]'],
])('refuses %s', (_what, ratePolicy, path) => {
  const create = (): unknown =>
    createTokenManager({
      issuers: { general: generalIssuer({ authUrl: 'https://auth.example.com', credentials: client }) },
      apis: [
        { baseUrl: 'https://api.example.com/', issuer: 'general', ratePolicy: ratePolicy as RatePolicy },
      ],
    })
  expect(create).toThrow(`\`apis[0].${path}\``)
})

test('another policy holds at once, for queued calls too, and counts what was sent before', async () => {
  const { call, sentAt, tokens } = limitedApi({ limits: [{ quota: 1, window: 60_000 }] })
  await tokens.warmUp()
  const calls = Promise.all(Array.from({ length: 5 }, () => call()))
  await pass(100)
  expect(sentAt).toEqual([0])
  tokens.setRatePolicy('https://api.example.com', { limits: [{ quota: 2, window: 1_000 }] })
  await pass(0)
  expect(sentAt).toEqual([0, 100])
  await pass(3_000)
  await calls
  for (let last = 2; last < 5; last += 1)
    expect((sentAt[last] ?? 0) - (sentAt[last - 2] ?? 0)).toBeGreaterThan(1_000)
  expect(sentAt.at(-1)).toBeLessThan(2_200)
})

test('a policy that is set may lower the quota, the slots and the longest wait of queued calls', async () => {
  const { call, sentAt, tokens } = limitedApi({ limits: [{ quota: 10, window: 60_000 }], concurrency: 10 })
  await tokens.warmUp()
  const sent = Promise.all(Array.from({ length: 10 }, () => call()))
  const waiting = Promise.allSettled([call(), call()])
  await pass(1_000)
  await sent
  tokens.setRatePolicy('https://api.example.com/', { limits: [{ quota: 5, window: 30_000 }], maxWait: 5_000 })
  await pass(4_000)
  for (const outcome of await waiting) expect(outcome).toMatchObject({ reason: { code: 'QUEUE_TIMEOUT' } })
  await expect(call()).rejects.toMatchObject({ code: 'QUEUE_TIMEOUT' })
  await pass(22_000)
  const later = Promise.all([call(), call()])
  await pass(4_000)
  await later
  expect(sentAt).toHaveLength(12)
  expect(sentAt[10]).toBeGreaterThan(30_000)
})

test('a policy is checked when it is set as at start, and an API without one gets none', () => {
  const { tokens } = limitedApi({ limits: [] })
  const set = (baseUrl: string, policy: unknown): (() => void) => {
    return () => tokens.setRatePolicy(baseUrl, policy as RatePolicy)
  }
  expect(set('https://api.example.com/', { limits: [{ quota: 0, window: 1 }] })).toThrow(
    'Cannot set rate policy: `ratePolicy.limits[0].quota` is 0',
  )
  expect(set('https://api.example.com/', { limits: [], rpm: 3 })).toThrow('`ratePolicy.rpm`')
  expect(set('https://api.example.org/', { limits: [] })).toThrow('`baseUrl`')
  const { tokens: others } = fakeService()
  expect(() => others.setRatePolicy('https://api.example.com/', { limits: [] })).toThrow('`ratePolicy`')
})

test('a priority that is no whole number is refused', async () => {
  const { call } = limitedApi({ limits: [] })
  await expect(call({ priority: Number.NaN })).rejects.toMatchObject({ code: 'INVALID_OPTIONS' })
})

test('an old token serves queued calls while the issuer is down', async () => {
  const { call, issuer, tokens } = limitedApi({ limits: [{ quota: 25, window: 1_000 }] })
  await tokens.warmUp()
  issuer.respondWith(() => unavailable('60'))
  await pass(3_600_000 - 5_000)
  const now = performance.now.bind(performance)
  let readings = 0
  vi.spyOn(performance, 'now').mockImplementation(() => {
    if ((readings += 1) > 10_000) throw new Error('a loop that never lets go')
    return now()
  })
  const calls = Promise.all([call(), call(), call()])
  await pass(10)
  await expect(calls).resolves.toEqual(Array(3).fill('Bearer token-1'))
  expect(issuer.count).toBe(2)
})

test('a pass that was released unsent gives its unit back at once', async () => {
  const { api, call, tokens } = limitedApi({ limits: [{ quota: 1, window: 60_000 }] })
  await tokens.warmUp()
  const unused = await api.admit()
  unused.release()
  const answer = call()
  await pass(10)
  await expect(answer).resolves.toBe('Bearer token-1')
})

test('with `maxQueued: 0` the first calls may wait for their token', async () => {
  const { call } = limitedApi({ limits: [{ quota: 2, window: 1_000 }], maxQueued: 0 })
  const calls = Promise.all([call(), call()])
  await expect(call()).rejects.toMatchObject({ code: 'QUEUE_FULL' })
  await pass(10)
  await expect(calls).resolves.toEqual(['Bearer token-1', 'Bearer token-1'])
})
