import { FreezableTime } from '@tokenlane/testing/frozen-time'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { RedisRequests } from './redis-requests.ts'
import { processRuntime } from './runtime.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

function requestsWith(timeout: number) {
  const sent: { response: (text: string) => void; refuse: (error: Error) => void }[] = []
  const seen: string[] = []
  const requests = new RedisRequests<string, string>({
    exchange: () => new Promise((resolve, reject) => sent.push({ response: resolve, refuse: reject })),
    runtime: processRuntime,
    timeout,
    failed() {},
    silent: () => seen.push('silent'),
    unreachable: (reason) => seen.push((reason as Error).message),
    unanswered() {},
  })
  const send = (text: string): void => requests.send(text, (response) => seen.push(response))
  return { requests, send, sent, seen }
}

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

test('a response 1 ms before the time is over counts, and none shortly after it does not', async () => {
  const { send, sent, seen } = requestsWith(500)
  send('one')
  await pass(499)
  sent[0]?.response('here')
  await pass(1_000)
  expect(seen).toEqual(['here'])
  send('two')
  await pass(1_300)
  // what responded after 499 ms may take longer than 500 ms
  expect(seen).toEqual(['here', expect.stringMatching(/^no response in \d+ ms$/)])
})

describe('a process that is frozen for 8 s while it waits for Redis', () => {
  beforeEach(() => vi.useRealTimers())
  afterEach(() => vi.unstubAllGlobals())

  test.each(['ECONNRESET', 'TRYAGAIN'])('gives Redis the time that it had left, after %s', async (code) => {
    const time = new FreezableTime()
    const { send, sent, seen } = requestsWith(500)
    send('one')
    await time.pass(100)
    await time.freeze(3_000, () => sent[0]?.refuse(new Error(code)))
    await time.pass(130)
    send('two')
    await time.pass(100)
    expect(seen).toEqual([])
    await time.pass(300)
    expect(seen).toEqual([code])
  })

  test('gives Redis that time, though it has given the request up', async () => {
    const time = new FreezableTime()
    const { requests, send, sent, seen } = requestsWith(500)
    send('one')
    await time.pass(100)
    // units that were granted so long ago may be those of others by now
    await time.freeze(8_000, () => sent[0]?.response('too late'))
    expect(requests.isFree).toBe(true)
    send('two')
    await time.pass(100)
    sent[1]?.response('here')
    await time.pass(1_000)
    expect(seen).toEqual(['here'])
  })
})

test('a late response counts, and a Redis that is far away may take longer from then on', async () => {
  const { requests, send, sent, seen } = requestsWith(500)
  send('one')
  await pass(800)
  expect(seen).toEqual(['no response in 500 ms'])
  sent[0]?.response('late')
  await pass(0)
  expect(requests.isFree).toBe(true)
  send('two')
  await pass(1_900)
  expect(seen).toEqual(['no response in 500 ms', 'late'])
})

test('a response that never comes is given up when Redis had twice its time, and what comes later is not heard', async () => {
  const { requests, send, sent, seen } = requestsWith(500)
  send('zero')
  sent[0]?.response('here')
  await pass(0)
  send('one')
  await pass(990)
  expect(requests.isFree).toBe(false)
  await pass(20)
  expect(requests.isFree).toBe(true)
  send('two')
  sent[1]?.response('of the first')
  sent[2]?.response('of the second')
  await pass(0)
  expect(seen).toEqual(['here', 'no response in 500 ms', 'of the second'])
})

test('each request that is given up is waited for longer, at most 4 s, and a silence of 4 s is reported', async () => {
  const { requests, send, sent, seen } = requestsWith(500)
  send('zero')
  sent[0]?.response('here')
  await pass(0)
  const waits: number[] = []
  for (let each = 0; each < 4; each += 1) {
    const sentAt = performance.now()
    send('again')
    while (!requests.isFree) await pass(10)
    waits.push(Math.round((performance.now() - sentAt) / 100) / 10)
  }
  expect(waits).toEqual([1, 3, 4, 4])
  expect(seen).toEqual(['here', 'no response in 500 ms', 'silent', 'silent', 'silent'])
})

test('before the first response Redis has 4 s: it may be far away', async () => {
  const { requests, send, sent, seen } = requestsWith(500)
  send('one')
  await pass(3_900)
  expect(requests.isFree).toBe(false)
  sent[0]?.response('of the first')
  await pass(0)
  expect(seen).toEqual(['no response in 500 ms', 'of the first'])
})

test('a Redis that refuses for less than the time is asked again, and nothing is reported', async () => {
  const { requests, send, sent, seen } = requestsWith(500)
  send('one')
  sent[0]?.refuse(new Error('TRYAGAIN'))
  await pass(130)
  expect(requests.isFree).toBe(true)
  send('two')
  sent[1]?.response('here')
  await pass(1_000)
  expect(seen).toEqual(['here'])
})

test('a Redis that refused is reported with its refusal, even if it is slow to refuse the last request', async () => {
  const { send, sent, seen } = requestsWith(500)
  send('one')
  await pass(300)
  sent[0]?.refuse(new Error('OOM'))
  await pass(130)
  send('two')
  await pass(100)
  expect(seen).toEqual(['OOM'])
})

test.each([2 ** 31 - 1, 2 ** 31, Number.MAX_VALUE])('%d ms are not a short time', async (ms) => {
  const { send, seen } = requestsWith(ms)
  send('one')
  await pass(60_000)
  expect(seen).toEqual([])
})

test.each([50, 200, 1_500])(
  'after 4 s without a response the silence is reported, with a timeout of %d ms',
  async (ms) => {
    const { requests, send, seen } = requestsWith(ms)
    const start = performance.now()
    while (!seen.includes('silent')) {
      if (requests.isFree) send('again')
      await pass(10)
    }
    expect(Math.round((performance.now() - start) / 100)).toBe(40)
  },
)
