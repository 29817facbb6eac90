import { expect, test } from 'vitest'

import { fakeService, unavailable } from '../../test/fake-issuer.ts'
import { fakeTime, pass } from '../../test/fake-time.ts'
import { limitedApi } from '../../test/limited-api.ts'
import type { ApiStatus, RatePolicy } from '../index.ts'

fakeTime()

test('an API without limits of its own is not said to allow none', async () => {
  const { call, answers, tokens, eventsOf } = limitedApi({ limits: [] })
  await tokens.warmUp()
  answers.push(...Array.from({ length: 3 }, () => ({ status: 429, retryAfter: '1' })))
  const calls = call()
  await pass(5_000)
  await calls
  expect(eventsOf('api.paused').length).toBeGreaterThan(1)
  for (const event of eventsOf('api.paused')) expect(event).not.toHaveProperty('allows')
  expect(tokens.status().apis[0]).not.toHaveProperty('allows')
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

test.each(['0', '0.01', '-0', 'Sat, 21 Nov 2026 00:00:00 GMT', 'Fri, 20 Nov 2026 23:59:00 GMT', '00:00:00'])(
  'a 429 with Retry-After %s is no reason to call again at once',
  async (retryAfter) => {
    const { api, tokens } = limitedApi({ limits: [] })
    await tokens.warmUp()
    const sentAt: number[] = []
    const callOnce = (): Promise<number> =>
      api.send(async () => {
        sentAt.push(performance.now())
        return { status: 429, retryAfter, result: 429, discard() {} }
      })
    const calls = Promise.all(Array.from({ length: 20 }, callOnce))
    await pass(60_000)
    const distances = [...new Set(sentAt)].map(
      (at, index, all) => at - (all[index - 1] ?? Number.NEGATIVE_INFINITY),
    )
    expect(Math.min(...distances)).toBeGreaterThanOrEqual(250)
    tokens.resume('https://api.example.com/')
    await tokens.close()
    await calls
  },
)

test.each([
  ['ratelimit', '"a";r=0;t=0.01'],
  ['x-ratelimit-reset', '0.05'],
  ['x-ratelimit-reset', '0'],
])('nor is %s: %s', async (name, value) => {
  const { call, answers, eventsOf, tokens } = limitedApi({ limits: [] })
  await tokens.warmUp()
  answers.push({ status: 429, header: (asked) => (asked === name ? value : null) })
  await Promise.all([call(), pass(2_000)])
  expect(eventsOf('api.paused')).toMatchObject([{ for: 1_000 }])
})

const reset = String(Date.UTC(2026, 10, 21, 0, 30) / 1_000)

test.each([
  ['names no limit', {}, 'caller'],
  ['says that calls remain', { 'x-ratelimit-remaining': '4990', 'x-ratelimit-reset': reset }, 'caller'],
  ['says that none remain', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '7' }, 7_000],
  ['says when to come back', { 'retry-after': '3' }, 3_000],
])('a 403 that counts as limited and %s', async (_, headers: Record<string, string>, outcome) => {
  const { call, answers, eventsOf, tokens, sentAt } = limitedApi({ limits: [], limitedStatuses: [403, 429] })
  await tokens.warmUp()
  answers.push({ status: 403, header: (name) => headers[name], result: 'caller' })
  const answer = call()
  await pass(8_000)
  expect(eventsOf('api.paused').map((event) => event.for)).toEqual(
    typeof outcome === 'number' ? [outcome] : [],
  )
  expect(sentAt).toHaveLength(typeof outcome === 'number' ? 2 : 1)
  await answer
})

test('a reset counts only where its quota is used up: a 429 for another limit waits for the backoff', async () => {
  const { call, answers, eventsOf, tokens } = limitedApi({ limits: [] })
  await tokens.warmUp()
  const headers: Record<string, string> = { 'x-ratelimit-remaining': '4990', 'x-ratelimit-reset': reset }
  answers.push({ status: 429, header: (name) => headers[name] })
  await Promise.all([call(), pass(2_000)])
  expect(eventsOf('api.paused')).toMatchObject([{ for: 1_000 }])
})

test('where backoff was not enough, a 429 that names nothing waits for the longest window of the policy', async () => {
  const { api } = limitedApi({
    limits: [
      { quota: 20, window: 1_000 },
      { quota: 100, window: 60_000 },
    ],
  })
  const start = performance.now()
  const call = api.send(async () => {
    const status = performance.now() - start < 60_000 ? 429 : 200
    return { status, result: status, discard() {} }
  })
  await pass(64_000)
  expect(await call).toBe(200)
})

test('with maxWait a refused call is given up when the API has accepted none for that long', async () => {
  const { api, call, answers, tokens } = limitedApi({ limits: [], maxWait: 20_000 })
  await tokens.warmUp()
  const start = performance.now()
  let sends = 0
  const refused = api.send(async () => {
    sends += 1
    return { status: 429, result: performance.now() - start, discard() {} }
  })
  await pass(60_000)
  // 1, 2, 4 and 8 s; after 16 more it would be too late
  expect(await refused).toBe(15_000)
  expect(sends).toBe(5)
  answers.push({ status: 429, retryAfter: '1' })
  const other = call()
  await pass(20_000)
  expect(await other).toContain('Bearer')
})

test.each([
  ['maxWait', { maxWait: 5_000 }, 3_000],
  ['three further refusals', {}, 7_000],
])('calls that were refused together are given up together, after %s', async (_what, policy, givenUpAt) => {
  const { api, tokens, eventsOf } = limitedApi({ limits: [{ quota: 10, window: 1_000 }], ...policy })
  await tokens.warmUp()
  const start = performance.now()
  const heardAt: number[] = []
  for (let call = 0; call < 10; call += 1)
    void api
      .send(async () => ({ status: 429, result: 429, discard() {} }), { method: 'GET' })
      .then((status) => heardAt.push(status, Math.round((performance.now() - start) / 100) * 100))
  await pass(100_000)
  expect(heardAt).toEqual(Array.from({ length: 10 }, () => [429, givenUpAt]).flat())
  expect(eventsOf('call.finished')).toHaveLength(10)
  for (const event of eventsOf('call.finished')) expect(event).toMatchObject({ status: 429 })
  expect(tokens.status().apis[0]).toMatchObject({ queued: 0, running: 0 })
})

test('a refused call is not given up with those before the API accepted one', async () => {
  const { api, answers, call, tokens } = limitedApi({ limits: [] })
  await tokens.warmUp()
  const refusal = { status: 429, retryAfter: '1' }
  // the first two are refused together; then one is accepted before each refusal
  answers.push(refusal, refusal, refusal, refusal, {}, refusal, refusal, refusal, {})
  const calls = Promise.all([call(), call()])
  await pass(60_000)
  expect(await calls).toHaveLength(2)
  expect(answers).toEqual([])
  expect(api.mustWait()).toBe(false)
})

test('a 429 of an API without a policy is the caller\u2019s', async () => {
  const { tokens } = fakeService()
  const call = tokens
    .route('https://api.example.com/')
    ?.send(async () => ({ status: 429, result: 429, discard() {} }))
  await expect(call).resolves.toBe(429)
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

test('calls that were under way together pass the limit together: one pause and one event', async () => {
  const { call, answers, eventsOf, tokens } = limitedApi({ limits: [], concurrency: 5 })
  await tokens.warmUp()
  answers.push(...Array.from({ length: 6 }, () => ({ status: 429 })))
  const calls = Promise.all(Array.from({ length: 5 }, () => call()))
  await pass(10_000)
  await calls
  expect(eventsOf('api.paused').map((event) => event.for)).toEqual([1_000, 2_000])
})

/** An API with 10 calls a second, for which 400 wait, 15 s after the first; and which refuses some of the next. */
async function learning(ms = 15_000) {
  const service = limitedApi({ limits: [{ quota: 10, window: 1_000 }], accounting: 'learned' })
  const { call, answers, tokens } = service
  await tokens.warmUp()
  const calls = Promise.all(Array.from({ length: 400 }, () => call()))
  await pass(ms)
  const refuse = async (count: number): Promise<void> => {
    answers.push(...Array.from({ length: count }, () => ({ status: 429, retryAfter: '1' })))
    while (answers.length > 0) await pass(10)
    await pass(20)
  }
  return { ...service, calls, refuse, status: (): Partial<ApiStatus> => tokens.status().apis[0] ?? {} }
}

test('learned: a refusal raises what was learned, and no call tries first after the pause', async () => {
  const { calls, refuse, sentAt, status, eventsOf } = await learning()
  const { arrivesWithin: before = 0 } = status()
  expect(before).toBeLessThan(40)
  await refuse(1)
  expect(status().arrivesWithin).toBeGreaterThan(2 * before)
  expect(status().arrivesWithin).toBeLessThan(3 * before)
  expect(eventsOf('api.paused')).toHaveLength(1)
  const sent = sentAt.length
  await pass(1_200)
  const [next] = sentAt.slice(sent)
  expect(sentAt.filter((at) => at === next).length).toBeGreaterThan(2)
  await pass(60_000)
  await calls
  expect(sentAt).toHaveLength(401)
})

test('learned: a refusal while hardly less than with strict is assumed starts the learning again', async () => {
  const { calls, refuse, status } = await learning(2_500)
  expect(status().arrivesWithin).toBeGreaterThan(100)
  await refuse(1)
  expect(status().arrivesWithin).toBe(250)
  await pass(20_000)
  expect(status().arrivesWithin).toBeLessThan(40)
  await pass(60_000)
  await calls
})

test('learned: the third refusal within ten rounds of the quota shows that the policy is wrong', async () => {
  const { calls, refuse, status, eventsOf } = await learning()
  await refuse(1)
  // ten rounds later it no longer counts
  await pass(13_000)
  await refuse(20)
  // the trial after the third shows that the API accepts calls again
  await pass(1_100)
  // the first one of all, two that are learned from, and one that lets the pace fall: its second event says how far
  const allows = [{ quota: 7, window: 1_000 }]
  expect(eventsOf('api.paused')).toMatchObject([{}, {}, {}, {}, { allows }])
  expect(status().allows).toEqual(allows)
  await pass(300_000)
  await calls
})

/** Lets calls wait for an API for 40 s, whose responses take 100 ms and this long by turns. */
async function callSlowly(ratePolicy: RatePolicy, slow: number, callers = 60) {
  const service = limitedApi(ratePolicy)
  await service.tokens.warmUp()
  let sent = 0
  const end = performance.now() + 40_000
  const caller = async (): Promise<void> => {
    while (performance.now() < end)
      await service.api.send(async () => {
        sent += 1
        await new Promise((resolve) => setTimeout(resolve, sent % 2 === 0 ? 100 : slow))
        return { status: 200, result: 200, discard() {} }
      })
  }
  const made = Promise.all(Array.from({ length: callers }, caller))
  await pass(20_000)
  const early = sent
  await pass(20_000)
  const rate = (sent - early) / 20
  const status = service.tokens.status().apis[0]
  return { ...service, status, rate, ended: () => pass(120_000).then(() => made) }
}

const short = [{ quota: 10, window: 300 }]
const learned = "accounting: 'learned'"

test.each([
  ['a window that is short beside 250 ms', { limits: short }, learned],
  [
    'a raised unansweredGrace',
    { limits: [{ quota: 10, window: 1_000 }], unansweredGrace: 2_000 },
    'unansweredGrace: 250',
  ],
  ['both', { limits: short, unansweredGrace: 2_000 }, learned],
  ['two limits', { limits: [...short, { quota: 2_000, window: 60_000 }] }, learned],
  ['`spread`', { limits: short, spread: true }, learned],
])(
  '%s: an API with slow responses gets little of its quota, which is said once',
  async (_, policy, option) => {
    const { eventsOf, status, rate, ended, tokens } = await callSlowly(policy, 3_000, 200)
    const [event, ...others] = eventsOf('api.slowed')
    expect(others).toEqual([])
    expect(event).toMatchObject({ api: 'https://api.example.com/', option })
    const share = status?.slowed?.share ?? 1
    const [{ quota, window }] = policy.limits as [{ quota: number; window: number }]
    // what calls got
    expect(share).toBeCloseTo(rate / (quota / (window / 1_000)), 1)
    expect(share).toBeLessThan(0.7)
    expect(status?.slowed?.option).toBe(option)
    tokens.setRatePolicy('https://api.example.com/', policy)
    expect(tokens.status().apis[0]).not.toHaveProperty('slowed')
    await ended()
  },
)

test.each([
  ['the default and a second', { limits: [{ quota: 10, window: 1_000 }] }, 3_000, 60],
  ['responses in a steady, short time', { limits: short }, 100, 60],
  ['`learned`', { limits: short, accounting: 'learned' as const }, 3_000, 60],
  ['calls that wait for slots', { limits: short, concurrency: 2 }, 3_000, 60],
  ['fewer calls than the quota', { limits: short }, 3_000, 5],
])('%s: nothing is said of slow responses', async (_, policy, slow, callers) => {
  const { eventsOf, status, ended } = await callSlowly(policy, slow, callers)
  expect(eventsOf('api.slowed')).toEqual([])
  expect(status).not.toHaveProperty('slowed')
  await ended()
})

test.each([
  ['keep-alive', 1_251],
  ['close', 2_001],
  ['Close', 2_001],
])(
  'after a response with Connection: %s, a call without one keeps its unit for %d ms',
  async (connection, ms) => {
    const { api, call, answers, sentAt, tokens } = limitedApi({ limits: [{ quota: 1, window: 1_000 }] })
    await tokens.warmUp()
    answers.push({ header: (name) => (name === 'connection' ? connection : null) })
    await Promise.all([call(), pass(10)])
    await pass(2_000)
    await expect(api.send(() => Promise.reject(new Error('reset')))).rejects.toThrow('reset')
    await Promise.all([call(), pass(3_000)])
    expect(sentAt).toHaveLength(2)
    expect(sentAt[1]).toBeCloseTo(2_010 + ms, -1)
  },
)

test.each([
  ['of five minutes', '300'],
  ['that nothing names', undefined],
])('a manager that closes in a pause %s gives a refused call its 429', async (_, retryAfter) => {
  const { api, tokens, eventsOf } = limitedApi({ limits: [] })
  const call = api.send(async () => ({ status: 429, retryAfter, result: 429, discard() {} }))
  await pass(20)
  const closing = tokens.close()
  await pass(0)
  await closing
  expect(await call).toBe(429)
  expect(eventsOf('call.finished')).toMatchObject([{ status: 429 }])
})

test('a call that is refused while the manager closes is not waited for', async () => {
  const { call, answers, tokens } = limitedApi({ limits: [] })
  await tokens.warmUp()
  answers.push({ status: 429, retryAfter: '60', result: 'refused' })
  const last = call()
  const closing = tokens.close()
  await pass(10)
  await closing
  expect(await last).toBe('refused')
})

test.each([
  ['without a rate policy', undefined],
  ['with one', { limits: [] }],
])('%s, a call that waits for a token ends as soon as the manager closes', async (_, ratePolicy) => {
  const { tokens, issuer } = fakeService(
    {},
    { apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general', ...(ratePolicy && { ratePolicy }) }] },
  )
  issuer.respondWith(() => unavailable())
  const call = tokens
    .route('https://api.example.com/')
    ?.send(async () => ({ status: 200, result: 200, discard() {} }))
  const outcome = call?.catch((error: unknown) => error)
  await pass(100)
  const closing = tokens.close()
  await pass(0)
  await closing
  expect(await outcome).toMatchObject({ code: 'MANAGER_CLOSED' })
})
