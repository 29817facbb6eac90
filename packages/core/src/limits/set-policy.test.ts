import { expect, test } from 'vitest'
import { fakeTime, pass } from '../../test/fake-time.ts'
import { client, fakeService } from '../../test/fake-issuer.ts'
import { limitedApi } from '../../test/limited-api.ts'
import type { RatePolicy } from '../index.ts'
import { createTokenManager, generalIssuer } from '../index.ts'

fakeTime()

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
