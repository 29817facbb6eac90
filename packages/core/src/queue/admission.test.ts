import { expect, test } from 'vitest'

import { fakeTime, pass } from '../../test/fake-time.ts'
import { limitedApi } from '../../test/limited-api.ts'
import { checkCallOptions } from './call-options.ts'

fakeTime()

const idle = { queued: 0, running: 0 }

test('one more than maxQueued is refused at once, with a token or without', async () => {
  const { call } = limitedApi({ limits: [], concurrency: 1, maxQueued: 2 })
  const calls = Promise.all([call(), call(), call()])
  await expect(call()).rejects.toMatchObject({ code: 'QUEUE_FULL' })
  await pass(1)
  await expect(call()).rejects.toMatchObject({ code: 'QUEUE_FULL' })
  await pass(100)
  await calls
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
  const message = expect.stringMatching(/it must wait at least \d+ ms; `maxWait`/) as string
  expect(refused[0]).toMatchObject({ reason: { code: 'QUEUE_TIMEOUT', message } })
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
    {
      status: 'rejected',
      reason: { code: 'QUEUE_TIMEOUT', message: expect.stringContaining('(cause: limit)') as string },
    },
  ])
})

test('a pause counts towards maxWait, and so does the wait that the limits add to it', async () => {
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
  await expect(call()).rejects.toThrow(/it must wait at least \d+ ms: the API is paused; `maxWait`/)
  await pass(7_000)
  await Promise.all([first, second])
})

test('a call that waits too long for a slot names it as the cause', async () => {
  const { api, call, tokens } = limitedApi({ limits: [], concurrency: 1, maxWait: 500 })
  await tokens.warmUp()
  const held = await api.admit()
  const refused = expect(call()).rejects.toThrow('it waited too long (cause: slot); `maxWait`')
  await pass(500)
  await refused
  held.release()
})

test('a call that waits too long for a token says why there is none', async () => {
  const { call, issuer } = limitedApi({ limits: [], maxWait: 1_000 })
  issuer.respondWith(() => new Response('', { status: 503 }))
  const late = call().catch((error: unknown) => error)
  await pass(1_000)
  expect(await late).toMatchObject({
    code: 'QUEUE_TIMEOUT',
    api: 'https://api.example.com/',
    issuer: 'general',
    status: 503,
    message: expect.stringMatching(
      /\(cause: token\); .* is 1000 ms; issuer "general" \(.*\) responded with status 503 \(see .*#queue_timeout\)/,
    ) as string,
  })
})

test('a refused call is not sent again after a pause beyond maxWait: its caller gets the 429 at once', async () => {
  const { api, tokens, eventsOf } = limitedApi({ limits: [], maxWait: 2_000 })
  await tokens.warmUp()
  const statuses = [429, 200]
  const send = (retryAfter: string): Promise<number> =>
    api.send(async () => {
      const status = statuses.shift() ?? 200
      return { status, retryAfter, result: status, discard() {} }
    })
  await expect(send('3')).resolves.toBe(429)
  expect(eventsOf('api.paused')).toMatchObject([{ for: 3_000 }])
  expect(tokens.status().apis[0]).toMatchObject(idle)
  await pass(3_000)
  statuses.unshift(429)
  const again = send('2')
  await pass(2_000)
  await expect(again).resolves.toBe(200)
})

test('with `maxQueued: 0` the first calls may wait for their token', async () => {
  const { call } = limitedApi({ limits: [{ quota: 2, window: 1_000 }], maxQueued: 0 })
  const calls = Promise.all([call(), call()])
  await expect(call()).rejects.toMatchObject({ code: 'QUEUE_FULL' })
  await pass(10)
  await expect(calls).resolves.toEqual(['Bearer token-1', 'Bearer token-1'])
})

test('a call may have a priority, say whether it may be sent again, or have nothing to say', () => {
  for (const options of [{}, { priority: 0 }, { priority: -3 }, { priority: undefined }, { resend: false }])
    expect(checkCallOptions(options)).toMatchObject(options)
  expect(checkCallOptions(undefined)).toEqual({})
})

test.each([
  [5, '`tokenlane` is a number; allowed: an object'],
  [null, '`tokenlane` is null; allowed: an object'],
  [[], '`tokenlane` is an array; allowed: an object'],
  [{ prio: 1 }, '`tokenlane.prio` is not an option; allowed: priority, resend, cost'],
  [{ priority: 1.5 }, '`tokenlane.priority` is 1.5; allowed: a whole number'],
  [{ resend: 1 }, '`tokenlane.resend` is 1; allowed: true or false'],
  [{ priority: '1' }, '`tokenlane.priority` is a string; allowed: a whole number'],
  [
    { priority: Number.MAX_SAFE_INTEGER },
    '`tokenlane.priority` is 9007199254740991; allowed: a whole number',
  ],
])('%j is refused', (options, message) => {
  expect(() => checkCallOptions(options)).toThrow(
    expect.objectContaining({
      code: 'INVALID_OPTIONS',
      message: `Cannot send call: ${message} (see node_modules/@tokenlane/core/troubleshoot.md#invalid_options)`,
    }),
  )
})
