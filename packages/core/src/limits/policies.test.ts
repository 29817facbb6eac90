import { expect, test, vi } from 'vitest'

import { client, fakeService } from '../../test/fake-issuer.ts'
import { fakeTime, pass } from '../../test/fake-time.ts'
import { limitedApi } from '../../test/limited-api.ts'
import type { CallOptions, Exchange } from '../adapter.ts'
import { createTokenManager, generalIssuer, type RatePolicy } from '../index.ts'

fakeTime()

const one = 'https://api.example.com/v1/'
const two = 'https://uploads.example.com/'

interface Call extends CallOptions {
  readonly method?: string
  readonly url?: string
  readonly answer?: Partial<Exchange<number>> | undefined
}

/** Two APIs of one manager with these policies, and when calls were sent to them. */
function apisWith(...policies: RatePolicy[]) {
  const service = fakeService(
    {},
    {
      apis: [one, two]
        .slice(0, policies.length)
        .map((baseUrl, index) => ({ baseUrl, issuer: 'general', ratePolicy: policies[index] as RatePolicy })),
    },
  )
  const sent: { at: number; url: string }[] = []
  const start = performance.now()
  const call = async ({ method = 'GET', url = `${one}x`, answer, ...options }: Call = {}): Promise<number> =>
    (await service.tokens.route(url)?.send(
      async () => {
        sent.push({ at: performance.now() - start, url })
        await new Promise((resolve) => setTimeout(resolve, 10))
        return { status: 200, result: 200, discard() {}, ...answer }
      },
      { method, url, ...options },
    )) as number
  return {
    ...service,
    call,
    sent,
    times: (count: number, make: () => Promise<number>) => Array.from({ length: count }, make),
  }
}

test('limits of one name are one limit for all APIs and hosts of the manager', async () => {
  const account = { name: 'account', quota: 10, window: 1_000 }
  const { call, sent, tokens } = apisWith(
    { limits: [account] },
    { limits: [{ quota: 8, window: 1_000 }, account] },
  )
  await tokens.warmUp()
  const calls = Promise.all([
    ...Array.from({ length: 20 }, () => call()),
    ...Array.from({ length: 20 }, () => call({ url: `${two}x` })),
  ])
  await pass(10_000)
  await calls
  for (const { at } of sent) {
    const window = sent.filter((other) => other.at >= at && other.at < at + 1_000)
    expect(window.length).toBeLessThanOrEqual(10)
    expect(window.filter(({ url }) => url.startsWith(two)).length).toBeLessThanOrEqual(8)
  }
  expect(sent.at(-1)?.at).toBeLessThan(5_000)
})

test('a named limit stays one where its policy is set again, and joins what has a named limit already', async () => {
  const account = { name: 'account', quota: 10, window: 60_000 }
  const { call, sent, tokens } = apisWith(
    { limits: [account] },
    { limits: [{ name: 'uploads', quota: 50, window: 60_000 }] },
  )
  await tokens.warmUp()
  tokens.setRatePolicy(one, { limits: [{ ...account, quota: 12 }] })
  tokens.setRatePolicy(two, { limits: [{ ...account, quota: 12 }] })
  const calls = Promise.all(
    [one, two].flatMap((url) => Array.from({ length: 10 }, () => call({ url: `${url}x` }))),
  )
  await pass(1_000)
  expect(sent).toHaveLength(12)
  await pass(62_000)
  await calls
})

test('two definitions of one name are refused', () => {
  expect(() =>
    apisWith(
      { limits: [{ name: 'a', quota: 10, window: 1_000 }] },
      { limits: [{ name: 'a', quota: 11, window: 1_000 }] },
    ),
  ).toThrow(
    /`apis\[1\]\.ratePolicy\.limits\[0\]\.name` is 'a', as that of `apis\[0\]\.ratePolicy\.limits\[0\]`/,
  )
})

test.each([
  [{ quota: 1, window: 'week' }, 'window'],
  [{ quota: 1, window: 1_000, timeZone: 'UTC' }, 'timeZone'],
  [{ quota: 1, window: 'day', timeZone: 'Mars' }, 'timeZone'],
  [{ quota: 1, window: 1_000, match: 'get /x' }, 'match'],
  [{ quota: 1, window: 1_000, match: [] }, 'match'],
  [{ quota: 1, window: 1_000, match: 'POST orders' }, 'match'],
  [{ quota: 1, window: 1_000, match: /orders/ }, 'match` is an object'],
  [{ quota: 1, window: 1_000, name: '' }, 'name'],
])('a limit %j is refused', (limit, option) => {
  expect(() => apisWith({ limits: [limit as never] })).toThrow(`\`apis[0].ratePolicy.limits[0].${option}`)
})

test('only calls that match a limit count, and they delay no others', async () => {
  const { call, sent, tokens } = apisWith({
    limits: [{ quota: 2, window: 60_000, match: ['POST /orders/*', '/search'] }],
  })
  await tokens.warmUp()
  const limited = Promise.all([
    call({ method: 'POST', url: `${one}orders/1` }),
    call({ url: `${one}search?q=1` }),
    call({ method: 'POST', url: `${one}orders/2/items` }),
  ])
  for (const free of [
    { url: `${one}orders/1` },
    { method: 'POST', url: `${one}orders` },
    { url: `${one}search/deep` },
    { url: `${one}x` },
  ])
    await Promise.all([call(free), pass(20)])
  expect(sent).toHaveLength(6)
  await pass(61_000)
  await limited
})

test('a named segment makes a limit of its own for each value, and thousands of them are forgotten', async () => {
  const { call, sent, tokens } = apisWith({ limits: [{ quota: 1, window: 1_000, match: '/bases/:base/*' }] })
  await tokens.warmUp()
  const calls = Promise.all(['a', 'b', 'a', 'c'].map((base) => call({ url: `${one}bases/${base}/rows` })))
  await pass(20)
  expect(sent.map(({ url }) => url.split('/')[5])).toEqual(['a', 'b', 'c'])
  await pass(1_500)
  await calls
  for (let base = 0; base < 3_000; base += 1) void call({ url: `${one}bases/${base}/rows` })
  await pass(50)
  expect(sent).toHaveLength(3_004)
})

test('calls cost what the policy says, or the call itself', async () => {
  const { call, sent, tokens } = apisWith({
    limits: [{ quota: 10, window: 60_000 }],
    cost: ({ method, url }) => (method === 'POST' ? 5 : Number(url.searchParams.get('cost') ?? 1)),
  })
  await tokens.warmUp()
  const calls = [call({ method: 'POST' }), call({ cost: 3 }), call({ url: `${one}x?cost=2` }), call()]
  await pass(100)
  expect(sent).toHaveLength(3)
  await pass(60_100)
  await Promise.all(calls)
})

test('an expensive call is not kept waiting by cheap ones that come later', async () => {
  const { call, tokens } = apisWith({ limits: [{ quota: 10, window: 1_000 }] })
  await tokens.warmUp()
  await Promise.all([...Array.from({ length: 10 }, () => call()), pass(50)])
  let isSent = false
  void call({ cost: 10 }).then(() => (isSent = true))
  const others = Array.from({ length: 100 }, () => call())
  await pass(2_500)
  expect(isSent).toBe(true)
  await pass(20_000)
  await Promise.all(others)
})

test('a call that costs more than a quota is refused by name, and so is a cost that is none', async () => {
  const { call } = apisWith({
    limits: [{ quota: 40, window: 1_000, name: 'points' }],
    cost: ({ method }) => (method === 'PUT' ? Number.NaN : 1),
  })
  await expect(call({ cost: 50 })).rejects.toThrow(
    '`tokenlane.cost` is 50; allowed: at most 40, the quota of limit "points"',
  )
  await expect(call({ method: 'PUT' })).rejects.toThrow('`ratePolicy.cost()` is NaN')
})

test.each<[unknown, string]>([
  ['2', 'a string'],
  [Promise.resolve(2), 'an object'],
  [-1, '-1'],
  [Infinity, 'Infinity'],
])('a cost of %o is refused, and leaves nothing behind', async (cost, said) => {
  const { call, sent, tokens } = apisWith({
    limits: [{ quota: 2, window: 1_000 }],
    cost: ({ method }) => (method === 'PUT' ? (cost as number) : 1),
  })
  await tokens.warmUp()
  await expect(call({ method: 'PUT' })).rejects.toThrow(
    `Cannot send call: \`ratePolicy.cost()\` is ${said}; allowed: a finite number, 0 or more`,
  )
  const calls = [call(), call()]
  await pass(20)
  expect(await Promise.all(calls)).toEqual([200, 200])
  expect(sent).toHaveLength(2)
  expect(tokens.status().apis[0]).toMatchObject({ queued: 0, running: 0 })
})

test.each<[unknown, number]>([
  ['2', 2],
  ['', 3],
  ['many', 3],
  [Number.NaN, 3],
  [-1, 3],
  [null, 3],
])('an actual cost of %o counts as %i of 3 units', async (actualCost, counted) => {
  const { call, tokens } = apisWith({
    limits: [{ quota: 6, window: 60_000, name: 'points' }],
    actualCost: () => actualCost as number,
  })
  await tokens.warmUp()
  await Promise.all([call({ cost: 3 }), pass(20)])
  expect(tokens.status().apis[0]?.limits).toMatchObject([{ used: counted }])
})

test.each(['isLimited', 'actualCost'])('%s that returns a promise fails the call', async (name) => {
  const { call, tokens } = apisWith({ limits: [], [name]: async () => undefined })
  const failed = expect(call()).rejects.toThrow(
    `\`ratePolicy.${name}()\` is a promise; allowed: an answer at once`,
  )
  await pass(20)
  await failed
  expect(tokens.status().apis[0]).toMatchObject({ queued: 0, running: 0 })
})

test('a named segment counts by what it stands for, however it is encoded', async () => {
  const { call, sent, tokens } = apisWith({ limits: [{ quota: 1, window: 60_000, match: '/issue/:id' }] })
  await tokens.warmUp()
  const paths = ['a-1', 'a%2D1', 'a%2d1', 'b%2Fc', 'b%2fc', '100%', 'A-1']
  const calls = Promise.all(paths.map((path) => call({ url: `${one}issue/${path}` })))
  await pass(20)
  expect(sent.map(({ url }) => url.split('/').at(-1))).toEqual(['a-1', 'b%2Fc', '100%', 'A-1'])
  await pass(200_000)
  await calls
})

test.each([
  ['/café/*', ['café/1', 'caf%C3%A9/2', 'caf%c3%a9/3']],
  ['/caf%c3%a9/*', ['café/1', 'caf%C3%A9/2']],
  ["GET /o'neill", ["o'neill", 'o%27neill']],
  ['/users/me@example', ['users/me@example', 'users/me%40example']],
  ['/search', ['search', '%73earch', 'search/', 'search?q=1']],
  ['/100%/:id', ['100%/1', '100%/1/']],
])('calls that match %s are the same calls however their path is encoded', async (match, paths) => {
  const { call, sent, tokens } = apisWith({ limits: [{ quota: 1, window: 60_000, match }] })
  await tokens.warmUp()
  const calls = Promise.all(paths.map((path) => call({ url: `${one}${path}` })))
  await pass(20)
  expect(sent).toHaveLength(1)
  await pass(200_000)
  await calls
})

test('what a response says of its cost settles it: the rest is given back, or taken', async () => {
  const { call, sent, tokens } = apisWith({
    limits: [{ quota: 100, window: 60_000 }],
    actualCost: ({ header }) => Number(header('X-Cost')),
  })
  await tokens.warmUp()
  const costing = (cost: string): Call['answer'] => ({ header: (name) => (name === 'x-cost' ? cost : null) })
  await Promise.all([call({ cost: 90, answer: costing('5') }), pass(20)])
  await Promise.all([call({ cost: 10, answer: costing('60') }), pass(20)])
  const calls = [call({ cost: 35, answer: costing('35') }), call({ cost: 1, answer: costing('1') })]
  await pass(20)
  expect(sent).toHaveLength(3)
  await pass(61_000)
  await Promise.all(calls)
})

// an API that counts what it refuses must never see more than the quota either
test.each([
  [undefined, 2],
  [true, 2],
  [false, 3],
])('refused calls count unless the policy says that they do not: %s', async (countsRefused, sends) => {
  const { call, sent, tokens } = apisWith({ limits: [{ quota: 2, window: 60_000 }], countsRefused })
  await tokens.warmUp()
  const refused = call({ resend: false, answer: { status: 429, retryAfter: '1' } })
  await pass(20)
  await refused
  const calls = [call(), call()]
  await pass(2_000)
  expect(sent).toHaveLength(sends)
  await pass(61_000)
  await Promise.all(calls)
})

test('an API that refuses everything for a while is left alone for that long at least', async () => {
  const { call, eventsOf, tokens } = apisWith({ limits: [], shortestPause: 30_000, longestPause: 20_000 })
  await tokens.warmUp()
  await Promise.all([call({ resend: false, answer: { status: 429, retryAfter: '1' } }), pass(20)])
  expect(eventsOf('api.paused')).toMatchObject([{ for: 30_000 }])
})

test('a function says what a limit looks like', async () => {
  const { call, eventsOf, tokens } = apisWith({
    limits: [],
    isLimited: ({ status, header }) => status === 200 && header('x-throttled') === 'yes',
  })
  await tokens.warmUp()
  const calls = [
    call({ resend: false, answer: { status: 429 } }),
    call({ resend: false, answer: { header: (name) => (name === 'x-throttled' ? 'yes' : null) } }),
  ]
  await Promise.all([...calls, pass(20)])
  expect(eventsOf('api.paused')).toMatchObject([{ status: 200 }])
})

test.each([
  ['what is used', { remaining: 'X-Used' }, { 'x-used': '40/40' }, 0],
  ['what is used, with a name', { remaining: 'x-used' }, { 'x-used': 'api-usage=5/5' }, 0],
  ['what remains', { remaining: 'x-left', reset: 'x-again' }, { 'x-left': '0', 'x-again': '7' }, 7_000],
  [
    'less than what remains of it',
    { remaining: 'x-left', reset: 'x-again', limit: 'x-whole' },
    { 'x-left': '9', 'x-whole': '0', 'x-again': '7' },
    7_000,
  ],
])(
  'an API\u2019s own headers say %s',
  async (_, rateLimitHeaders, headers: Record<string, string>, pause) => {
    const { call, eventsOf, tokens } = apisWith({
      limits: [{ quota: 100, window: 60_000 }],
      rateLimitHeaders,
    })
    await tokens.warmUp()
    await Promise.all([call({ answer: { header: (name) => headers[name] } }), pass(20)])
    expect(eventsOf('api.paused').map((event) => event.for)).toEqual(pause === 0 ? [] : [pause])
  },
)

test('a window of the calendar begins anew at its edge, and not one window after the calls', async () => {
  // 15 s before the minute ends
  await pass(45_000)
  const { call, sent, tokens } = apisWith({ limits: [{ quota: 20, window: 'minute' }] })
  await tokens.warmUp()
  const calls = Promise.all(Array.from({ length: 40 }, () => call()))
  await pass(13_000)
  expect(sent).toHaveLength(20)
  await pass(4_000)
  expect(sent).toHaveLength(40)
  await calls
})

test('with `aging` a normal call is sent while urgent ones keep coming', async () => {
  const outcomes: (number | undefined)[] = []
  for (const aging of [undefined, 1_000]) {
    const { call, tokens } = apisWith({ limits: [{ quota: 20, window: 1_000 }], ...(aging && { aging }) })
    await tokens.warmUp()
    let sentAfter: number | undefined
    const start = performance.now()
    for (let calls = 0; calls < 25; calls += 1) void call({ priority: 1 })
    void call().then(() => (sentAfter = performance.now() - start))
    for (let at = 0; at < 8_000; at += 40) {
      void call({ priority: 1 })
      await pass(40)
    }
    outcomes.push(sentAfter)
    await pass(60_000)
  }
  expect(outcomes[0]).toBeUndefined()
  expect(outcomes[1]).toBeLessThan(4_000)
})

test('the status names limits, each with what is in use of it, also where no call counts towards all', async () => {
  const orders = { name: 'orders', quota: 4, window: 60_000, match: 'POST /orders' }
  const bases = { quota: 10, window: 60_000, match: '/bases/:base/*' }
  const { call, tokens } = apisWith({ limits: [orders, { quota: 100, window: 60_000 }, bases] })
  await tokens.warmUp()
  const status = () => tokens.status().apis[0]
  expect(status()).toMatchObject({ quotaUsed: 0, quotaLeft: 100, limits: [orders, bases] })
  void call({ method: 'POST', url: `${one}orders` })
  for (const base of ['a', 'a', 'b']) void call({ url: `${one}bases/${base}/rows` })
  await pass(20)
  const rows = [
    { ...orders, used: 1 },
    { ...bases, used: 2 },
  ]
  expect(status()).toMatchObject({ quotaUsed: 0.25, quotaLeft: 96, limits: rows })
  await pass(61_000)
  expect(status()).toMatchObject({ quotaUsed: 0, limits: [{ used: 0 }, { used: 0 }] })
})

test('an API whose limits all count some calls only has no figure for others', async () => {
  const { tokens } = apisWith({ limits: [{ quota: 4, window: 60_000, match: 'POST' }] })
  await tokens.warmUp()
  expect(tokens.status().apis[0]).not.toHaveProperty('quotaLeft')
})

test('an estimate knows which calls wait for which limit', async () => {
  const { call, sent, tokens } = apisWith({
    limits: [
      { quota: 10, window: 1_000 },
      { name: 'orders', quota: 5, window: 10_000, match: 'POST /orders' },
    ],
  })
  await tokens.warmUp()
  const calls = [
    ...Array.from({ length: 15 }, () => call({ method: 'POST', url: `${one}orders` })),
    ...Array.from({ length: 20 }, () => call({ cost: 2 })),
  ]
  const start = Date.now()
  const expected = Date.parse(tokens.status().apis[0]?.emptyAt ?? '') - start
  await pass(60_000)
  await Promise.all(calls)
  const real = sent.at(-1)?.at ?? 0
  expect(real).toBeGreaterThan(19_000)
  expect(Math.abs(expected - real) / real).toBeLessThan(0.1)
})

test('a full queue refuses a call whose own limit is used up', async () => {
  const { call, tokens } = apisWith({
    limits: [{ quota: 1, window: 10_000, match: 'POST' }],
    maxQueued: 1,
  })
  await tokens.warmUp()
  const calls = [call({ method: 'POST' }), call({ method: 'POST' })]
  await expect(call({ method: 'POST' })).rejects.toMatchObject({ code: 'QUEUE_FULL' })
  await pass(11_000)
  await Promise.all(calls)
})

test('events say the name of the limit of which the API takes less', async () => {
  const limit = { name: 'account', quota: 30, window: 1_000, match: 'GET' }
  const { call, answers, eventsOf, tokens } = limitedApi({ limits: [limit] })
  await tokens.warmUp()
  for (let send = 0; send < 30; send += 1) answers.push(send < 10 ? {} : { status: 429 })
  const calls = Array.from({ length: 100 }, () => call())
  await pass(60_000)
  await Promise.all(calls)
  const said = eventsOf('api.paused').flatMap(({ allows = [] }) => allows)
  expect(said[0]).toMatchObject({ name: 'account', match: 'GET', window: 1_000 })
  expect(said[0]?.quota).toBeLessThan(30)
})

test('an API that refuses 3 of 100 calls for no reason is left alone for a moment, not for a second', async () => {
  const { call, answers, sentAt, tokens } = limitedApi({
    limits: [{ quota: 30, window: 1_000 }],
    spread: true,
  })
  await tokens.warmUp()
  let random = 1
  for (let send = 0; send < 2_000; send += 1) {
    random = (random * 48_271) % 2_147_483_647
    answers.push(random % 100 < 3 ? { status: 429 } : {})
  }
  const calls = Array.from({ length: 1_000 }, () => call())
  await pass(120_000)
  await Promise.all(calls)
  // 25.6 calls a second; with a pause of a second after each refusal, 15.3
  expect(1_000_000 / (sentAt.at(-1) ?? Infinity)).toBeGreaterThan(24)
})

test('a trial that is refused does not stand in the way of the next one, however long its response is looked at', async () => {
  const { call, answers, sentAt, tokens } = limitedApi({
    limits: [],
    isLimited({ status }) {
      vi.advanceTimersByTime(2)
      return status === 429
    },
  })
  await tokens.warmUp()
  answers.push({ status: 429 }, { status: 429 }, { status: 429 })
  const calls = call()
  await pass(20_000)
  await calls
  expect(sentAt.at(-1)).toBeLessThan(7_200)
})

test.each<[string, unknown, string]>([
  ['a policy that is not an object', 25, 'ratePolicy'],
  ['no limits', {}, 'ratePolicy.limits'],
  ['an option that does not exist', { limits: [], rpm: 3 }, 'ratePolicy.rpm'],
  ['a quota of 0', { limits: [{ quota: 0, window: 1 }] }, 'ratePolicy.limits[0].quota'],
  ['a window below 0', { limits: [{ quota: 1, window: -1 }] }, 'ratePolicy.limits[0].window'],
  ['a window in seconds', { limits: [{ quota: 1, window: 1 }] }, 'ratePolicy.limits[0].window'],
  ['a minute in seconds', { limits: [{ quota: 100, window: 60 }] }, 'ratePolicy.limits[0].window'],
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
  expect(() => others.setRatePolicy('https://api.example.com/', { limits: [] })).toThrow(
    'Cannot set rate policy: `ratePolicy` is missing on https://api.example.com/, so none can be set later; allowed: one from the start, even `{ limits: [] }`',
  )
})

const perSecond = { quota: 10, window: 1_000 }
const perMinute = { quota: 20, window: 60_000 }

test.each<[string, RatePolicy]>([
  ['one more limit', { limits: [perSecond, perMinute] }],
  ['one more limit, of these calls', { limits: [perSecond, { ...perMinute, match: 'GET' }] }],
  ['another cost', { limits: [{ quota: 40, window: 60_000 }], cost: () => 2 }],
])('queued calls keep %s of a policy that is set', async (_what, policy) => {
  const { call, sentAt, tokens } = limitedApi({ limits: [perSecond] })
  await tokens.warmUp()
  const calls = Promise.allSettled(Array.from({ length: 50 }, () => call()))
  await pass(100)
  expect(sentAt).toHaveLength(10)
  tokens.setRatePolicy('https://api.example.com/', policy)
  await pass(50_000)
  // those that were sent before count where they had a limit of the same calls
  expect(sentAt.length).toBeLessThanOrEqual(policy.cost ? 25 : 30)
  await pass(200_000)
  await calls
  expect(sentAt).toHaveLength(50)
})

test('queued calls are refused that cost more than a quota of the policy that is set', async () => {
  const { call, tokens } = limitedApi({ limits: [{ quota: 5, window: 60_000 }], cost: () => 5 })
  await tokens.warmUp()
  const calls = Promise.allSettled([call(), call(), call()])
  await pass(100)
  tokens.setRatePolicy('https://api.example.com/', { limits: [{ quota: 4, window: 60_000 }], cost: () => 5 })
  await pass(100)
  const refused = { status: 'rejected', reason: { code: 'INVALID_OPTIONS' } }
  expect(await calls).toMatchObject([{ status: 'fulfilled' }, refused, refused])
})

test('a policy that is set ends or begins the aging of queued calls, which keep their order', async () => {
  const { call, tokens, order } = limitedApi({ limits: [{ quota: 1, window: 1_000 }], aging: 10 })
  await tokens.warmUp()
  const calls = ['first', 'second'].map((name) => call({ name }))
  await pass(500)
  calls.push(call({ name: 'urgent', priority: 1 }))
  tokens.setRatePolicy('https://api.example.com/', { limits: [{ quota: 1, window: 1_000 }] })
  calls.push(call({ name: 'last' }))
  await pass(5_000)
  await Promise.all(calls)
  expect(order).toEqual(['first', 'urgent', 'second', 'last'])
})
