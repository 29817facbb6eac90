import { expect, test } from 'vitest'
import { fakeTime, pass } from '../../test/fake-time.ts'
import { limitedApi } from '../../test/limited-api.ts'
import type { RatePolicy } from '../index.ts'

fakeTime()

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
  ['accounting that is learned', { limits: [{ quota: 25, window: 1_000 }], accounting: 'learned' }],
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

test('a call without a response so far counts in the estimate as if it took as long as others', async () => {
  const { call, tokens } = limitedApi({
    limits: [{ quota: 10, window: 1_000 }],
    unansweredGrace: 60_000,
  })
  await tokens.warmUp()
  await Promise.all([...Array.from({ length: 10 }, () => call()), pass(20)])
  const calls = Promise.all(Array.from({ length: 100 }, () => call()))
  // the first of them are sent, and take 10 ms
  await pass(995)
  const left = Date.parse(tokens.status().apis[0]?.emptyAt ?? '') - Date.now()
  expect(left).toBeGreaterThan(8_500)
  expect(left).toBeLessThan(9_500)
  await pass(15_000)
  await calls
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
