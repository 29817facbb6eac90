import { getEventListeners } from 'node:events'
import { expect, test, vi } from 'vitest'
import { fakeTime, pass } from '../../test/fake-time.ts'
import { client, fakeService, unavailable } from '../../test/fake-issuer.ts'
import { limitedApi } from '../../test/limited-api.ts'
import { answer as answered, inTime } from '../../test/one-api.ts'
import type { Api } from '../index.ts'

fakeTime()

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

test('slots that no call leaves are reported once, and status says what calls wait for', async () => {
  const { api, tokens, eventsOf } = limitedApi({ limits: [], concurrency: 2 })
  await tokens.warmUp()
  const call = (ms: number): Promise<string> =>
    api.send(async () => {
      await new Promise((resolve) => setTimeout(resolve, ms))
      return answered(200, '')
    })
  // one ends 1 ms before it would be said
  const calls = [call(9_999), call(30_000), call(9_999), call(100), call(100)]
  await pass(9_998)
  expect(tokens.status().apis[0]).toMatchObject({ queued: 3, waitsFor: 'slot' })
  await pass(15_000)
  expect(eventsOf('slots.blocked')).toEqual([])
  await Promise.all([...calls, pass(10_000)])
  expect(tokens.status().apis[0]).not.toHaveProperty('waitsFor')

  const blocked = [call(30_000), call(30_000), call(100), call(100)]
  await pass(9_999)
  expect(eventsOf('slots.blocked')).toEqual([])
  blocked.push(call(100))
  await pass(1)
  await pass(15_000)
  expect(eventsOf('slots.blocked')).toEqual([
    { type: 'slots.blocked', api: 'https://api.example.com/', running: 2, queued: 3 },
  ])
  await Promise.all([...blocked, pass(10_000)])
  expect(eventsOf('slots.blocked')).toHaveLength(1)
  await pass(3_600)
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

test('a call that was sent before goes before queued calls, and is not refused for them', async () => {
  const { api, call, order } = limitedApi({ limits: [], concurrency: 1, maxQueued: 1, maxWait: 1_000 })
  const redirected = await inTime(Promise.resolve(api.admit()))
  const waiting = call({ name: 'waiting' })
  const hop = redirected.follow()
  await expect(call({ name: 'refused' })).rejects.toMatchObject({ code: 'QUEUE_FULL' })
  order.push('redirected')
  ;(await hop).release()
  await pass(100)
  await waiting
  expect(order).toEqual(['redirected', 'waiting'])
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
  const calls = Promise.allSettled(Array.from({ length: 200 }, async () => api.admit()))
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

test('a priority that is not a whole number is refused', async () => {
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
