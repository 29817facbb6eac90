import { tracingChannel } from 'node:diagnostics_channel'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fakeService, refusal, type FakeService } from '../../test/fake-issuer.ts'
import type { RatePolicy } from '../index.ts'
import type { Api, Exchange } from '../adapter.ts'

beforeEach(() => vi.useFakeTimers({ now: Date.UTC(2026, 10, 21) }))
afterEach(() => vi.useRealTimers())

const baseUrl = 'https://api.example.com/'

function service(ratePolicy?: RatePolicy): FakeService & { api: Api } {
  const made = fakeService({}, { apis: [{ baseUrl, issuer: 'general', ratePolicy }] })
  return { ...made, api: made.tokens.route(baseUrl) as Api }
}

const taking =
  (ms: number, ...statuses: number[]) =>
  async (): Promise<Exchange<number>> => {
    await new Promise((resolve) => setTimeout(resolve, ms))
    const status = statuses.shift() ?? 200
    return { status, result: status, discard() {} }
  }

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)
const nothing = { token: 0, slot: 0, limit: 0, pause: 0 }

test('a call that waits for its token and is sent again after a 401 says so when it is finished', async () => {
  const { api, issuer, eventsOf } = service()
  issuer.respondOnceWith(() => issuer.after(100)).respondOnceWith(() => issuer.after(50))
  const url = `${baseUrl}v1/records?secret=1#x`
  const call = api.send(taking(10, 401), { client: 'fetch', method: 'post', url })
  await pass(1_000)
  await call
  expect(eventsOf('call.finished')).toEqual([
    {
      type: 'call.finished',
      api: baseUrl,
      issuer: 'general',
      client: 'fetch',
      method: 'POST',
      path: '/v1/records',
      status: 200,
      sends: 2,
      // the second attempt goes out as soon as its token is there, 75 ms after the request for it
      remainingLifetime: expect.closeTo(3_600_000 - 75, -2) as number,
      resends: ['rejected'],
      waited: { ...nothing, token: 150 },
      duration: 170,
    },
  ])
})

test.each([
  ['/a/b', { url: () => new URL(`${baseUrl}a/b?c`) }],
  ['/a', { url: new URL(`${baseUrl}a`) }],
  [`/${'x'.repeat(199)}`, { url: `${baseUrl}${'x'.repeat(1_000)}` }],
  [undefined, { url: 'a' }],
  [undefined, {}],
])('an event has the path %s of %j, at most 200 characters of it', async (path, options) => {
  const { api, eventsOf } = service()
  const call = api.send(taking(0), options)
  await pass(1_000)
  await call
  expect(eventsOf('call.finished').map((event) => event.path)).toEqual([path])
})

test('a resend that no token comes for is not counted', async () => {
  const { api, issuer, eventsOf } = service()
  issuer.respondOnceWith(() => issuer.token()).respondWith(() => refusal())
  const call = api.send(taking(10, 401)).catch((error: unknown) => error)
  await pass(1_000)
  await call
  expect(eventsOf('call.finished')).toMatchObject([{ code: 'TOKEN_REQUEST_REFUSED', sends: 1, resends: [] }])
})

test('waits for a slot, for the limit and for the end of a pause are told apart', async () => {
  const { api, tokens, eventsOf } = service({ limits: [{ quota: 2, window: 1_000 }], concurrency: 1 })
  await tokens.warmUp()
  const calls = [api.send(taking(200)), api.send(taking(300, 429)), api.send(taking(10))]
  await pass(10_000)
  await Promise.all(calls)
  const finished = eventsOf('call.finished')
  expect(finished.map(({ status, resends }) => [status, ...resends])).toEqual([
    [200],
    [200, 'limited'],
    [200],
  ])
  expect(finished[0]?.waited).toEqual(nothing)
  // a slot at first, and after the 429 of 1 s; the first call's unit comes free 1,001.1 ms after its response
  expect(finished[1]?.waited).toEqual({ ...nothing, slot: 200, pause: 1_000 })
  expect(finished[2]?.waited.slot).toBe(200 + 300 + 300)
  expect(finished[2]?.waited.pause).toBe(1_000)
})

test('a call that fails says with which code, and nothing else of what failed', async () => {
  const { api, issuer, eventsOf } = service()
  issuer.respondOnceWith(() => refusal())
  await expect(api.send(taking(0))).rejects.toThrow('general')
  await pass(30_000)
  const reset = Object.assign(new TypeError('fetch failed'), {
    cause: Object.assign(new Error('read'), { code: 'ECONNRESET' }),
  })
  const odd = Object.assign(new Error('Bearer token-1'), { code: 'Bearer token-1', name: 'AbortError' })
  for (const error of [reset, odd, 'thrown text', null]) {
    const call = api.send(() => Promise.reject(error as Error))
    await expect(call).rejects.toBe(error)
  }
  expect(eventsOf('call.finished').map(({ status, code, sends }) => [status, code, sends])).toEqual([
    [undefined, 'TOKEN_REQUEST_REFUSED', 0],
    [undefined, 'ECONNRESET', 1],
    [undefined, 'AbortError', 1],
    [undefined, 'Error', 1],
    [undefined, 'Error', 1],
  ])
})

test('a pass is finished when it is released, or by the send that takes it over', async () => {
  const { api, eventsOf } = service()
  const first = await api.admit({ client: 'got' })
  first.sent()
  expect(first.report({ status: 401 })).toBe('again')
  const second = await first.next()
  first.release()
  expect(eventsOf('call.finished')).toEqual([])
  second.sent()
  second.report({ status: 204 })
  second.release()
  second.release()
  const taken = await api.admit({ client: 'ky' })
  const call = api.send(taking(5), { pass: taken })
  await pass(5)
  await call
  expect(eventsOf('call.finished')).toMatchObject([
    { client: 'got', status: 204, sends: 2, resends: ['rejected'] },
    { client: 'ky', status: 200, sends: 1, resends: [] },
  ])
})

test('without an observer a call has the tracing channel alone, with one message for all stages', async () => {
  const { api, issuer, tokens } = service()
  issuer.respondOnceWith(() => issuer.after(10))
  const heard: [string, Record<string, unknown>][] = []
  const note = (stage: string) => (message: unknown) =>
    void heard.push([stage, message as Record<string, unknown>])
  const subscribers = {
    start: note('start'),
    end: note('end'),
    asyncStart: note('asyncStart'),
    asyncEnd: note('asyncEnd'),
    error: note('error'),
  }
  const channel = tracingChannel('tokenlane:call')
  channel.subscribe(subscribers)
  const call = api.send(taking(10), { client: 'axios' })
  expect(heard.map(([stage]) => stage)).toEqual(['start', 'end'])
  await pass(20)
  await call
  expect(heard.map(([stage]) => stage)).toEqual(['start', 'end', 'asyncStart', 'asyncEnd'])
  expect(new Set(heard.map(([, message]) => message)).size).toBe(1)
  expect({ ...heard[0]?.[1] }).toEqual({
    manager: tokens,
    api: baseUrl,
    issuer: 'general',
    client: 'axios',
    status: 200,
    sends: 1,
    remainingLifetime: 3_600_000 - 10,
    resends: [],
    waited: { ...nothing, token: 10 },
    duration: 20,
  })
  heard.length = 0
  const secret = Object.assign(new Error('token=secret'), { code: 'ECONNRESET', config: { auth: 'secret' } })
  await expect(api.send(() => Promise.reject(secret))).rejects.toBe(secret)
  channel.unsubscribe(subscribers)
  expect(heard.map(([stage]) => stage)).toEqual(['start', 'end', 'error', 'asyncStart', 'asyncEnd'])
  const [, failed] = heard[2] as [string, { error: Error }]
  const { error } = failed
  expect(error).toMatchObject({ name: 'Error', code: 'ECONNRESET' })
  expect(`${error.message} ${JSON.stringify(error)}`).not.toContain('secret')
})
