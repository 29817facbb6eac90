import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fakeService, refusal, unavailable } from '../test/fake-issuer.ts'

const start = Date.UTC(2026, 10, 21)
const second = 1_000
const minute = 60 * second
const hour = 60 * minute

beforeEach(() => vi.useFakeTimers({ now: start }))
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

/** Lets time pass and everything that is due happen. */
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

test('50 first calls cost one token request', async () => {
  const { tokens, issuer, eventsOf } = fakeService()
  issuer.respondOnceWith(() => issuer.after(200))
  const calls = Promise.all(Array.from({ length: 50 }, () => tokens.getToken('general')))
  await pass(200)
  expect(new Set((await calls).map(({ value }) => value))).toEqual(new Set(['token-1']))
  expect(issuer.count).toBe(1)
  expect(eventsOf('token.renewed')).toMatchObject([{ reason: 'startup', joiners: 50, duration: 200 }])
})

test('the lifetime is counted from the moment before the request', async () => {
  const { tokens, issuer } = fakeService({ requestTimeout: 30_000, maxWait: 30_000 })
  issuer.respondOnceWith(() => issuer.after(20 * second))
  const token = tokens.getToken('general')
  await pass(20 * second)
  expect((await token).expiresAt).toEqual(new Date(start + hour))
})

test('a fresh token is reused up to 1 ms before its renewal is due', async () => {
  const { tokens, issuer } = fakeService({ renewBefore: 5 * minute })
  await tokens.warmUp()
  await pass(hour - 5 * minute - 1)
  await tokens.getToken('general')
  expect(issuer.count).toBe(1)
  await pass(1)
  expect((await tokens.getToken('general')).value).toBe('token-1')
  await pass(0)
  expect(issuer.count).toBe(2)
  expect((await tokens.getToken('general')).value).toBe('token-2')
})

test('an aging token serves while its renewal runs in the background', async () => {
  const { tokens, issuer, eventsOf } = fakeService({ renewBefore: 5 * minute })
  await tokens.warmUp()
  await pass(56 * minute)
  issuer.respondOnceWith(() => issuer.after(2 * second))
  for (let call = 0; call < 10; call += 1) expect((await tokens.getToken('general')).value).toBe('token-1')
  await pass(2 * second)
  expect((await tokens.getToken('general')).value).toBe('token-2')
  expect(issuer.count).toBe(2)
  expect(eventsOf('token.renewed')[1]).toMatchObject({ reason: 'ahead', joiners: 0 })
})

test('the margin is a tenth of the lifetime at most and half of that at least, drawn for each token', async () => {
  for (const [random, margin] of [
    [0, 3 * minute],
    [0.999_999, 6 * minute],
  ] as const) {
    vi.spyOn(Math, 'random').mockReturnValue(random)
    const { tokens, issuer } = fakeService()
    await tokens.warmUp()
    await pass(hour - margin - second)
    await tokens.getToken('general')
    await pass(0)
    expect(issuer.count).toBe(1)
    await pass(2 * second)
    await tokens.getToken('general')
    await pass(0)
    expect(issuer.count).toBe(2)
  }
})

test('200 managers of the same second spread their renewals over the jitter range, none after expiry', async () => {
  const fleet = Array.from({ length: 200 }, () => fakeService())
  await Promise.all(fleet.map(({ tokens }) => tokens.warmUp()))
  const renewedAt: number[] = []
  await pass(53 * minute)
  for (let at = 53 * minute; at <= hour; at += 10 * second) {
    await Promise.all(fleet.map(({ tokens }) => tokens.getToken('general')))
    await pass(0)
    const renewed = fleet.filter(({ issuer }) => issuer.count === 2).length
    while (renewedAt.length < renewed) renewedAt.push(at)
    await pass(10 * second)
  }
  expect(renewedAt).toHaveLength(200)
  expect(renewedAt[0]).toBeGreaterThanOrEqual(54 * minute)
  expect(renewedAt.at(-1)).toBeLessThanOrEqual(57 * minute + 10 * second)
  const inHalfMinuteOf = (from: number): number =>
    renewedAt.filter((at) => at >= from && at < from + 30 * second).length
  expect(Math.max(...renewedAt.map(inHalfMinuteOf))).toBeLessThan(80)
})

test.each([30, 60, 300])(
  'a lifetime of %i s with a margin of 300 s costs one request for 5 calls',
  async (lifetime) => {
    const { tokens, issuer } = fakeService({ renewBefore: 300 * second })
    issuer.lifetime = lifetime
    for (let call = 0; call < 5; call += 1) {
      await tokens.getToken('general')
      await pass(0)
    }
    expect(issuer.count).toBe(1)
  },
)

test('with the floor left, calls wait for the renewal; 1 ms earlier they do not', async () => {
  const { tokens, issuer } = fakeService({ renewBefore: 0 })
  await tokens.warmUp()
  await pass(hour - 10 * second - 1)
  expect((await tokens.getToken('general')).value).toBe('token-1')
  await pass(1)
  expect((await tokens.getToken('general')).value).toBe('token-2')
  expect(issuer.count).toBe(2)
})

test('an old token serves to its end if the issuer refuses to renew it', async () => {
  const { tokens, issuer } = fakeService({ renewBefore: 0 })
  await tokens.warmUp()
  issuer.respondWith(() => refusal())
  await pass(hour - 2 * second)
  expect((await tokens.getToken('general')).value).toBe('token-1')
  expect((await tokens.getToken('general')).value).toBe('token-1')
  await pass(2 * second)
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
  expect(issuer.count).toBe(2)
})

test('a background renewal that fails is an event, spaced, and tried again before expiry', async () => {
  const { tokens, issuer, eventsOf } = fakeService({ renewBefore: 5 * minute })
  await tokens.warmUp()
  await pass(55 * minute)
  issuer.respondWith(() => unavailable())
  for (let call = 0; call < 600; call += 1) {
    expect((await tokens.getToken('general')).value).toBe('token-1')
    await pass(100)
  }
  expect(issuer.count - 1).toBeGreaterThanOrEqual(5)
  expect(issuer.count - 1).toBeLessThanOrEqual(10)
  expect(eventsOf('renewal.failed')[0]).toMatchObject({ code: 'TOKEN_REQUEST_FAILED', tokenStillValid: true })
  issuer.respondWith(undefined)
  await pass(minute)
  await tokens.getToken('general')
  await pass(0)
  expect((await tokens.getToken('general')).value).toBe('token-2')
})

test('background renewals that fail past the end of the token reject nowhere', async () => {
  const { tokens, issuer } = fakeService({ renewBefore: 5 * minute })
  await tokens.warmUp()
  issuer.respondWith(() => new TypeError('fetch failed'))
  await pass(56 * minute)
  await tokens.getToken('general')
  await pass(10 * minute)
  expect(issuer.count).toBe(2)
  expect(vi.getTimerCount()).toBe(0)
})

test('an idle manager has no timer, before and after', async () => {
  const { tokens } = fakeService()
  expect(vi.getTimerCount()).toBe(0)
  await tokens.getToken('general')
  expect(vi.getTimerCount()).toBe(0)
  await pass(10 * hour)
  await tokens.getToken('general')
  expect(vi.getTimerCount()).toBe(0)
})

test('an outage of 2 s without a live token costs at most 6 requests and loses no call', async () => {
  for (const random of [0, 0.5, 0.999_999]) {
    vi.spyOn(Math, 'random').mockReturnValue(random)
    const { tokens, issuer } = fakeService()
    issuer.respondWith(() => unavailable())
    const calls = Promise.allSettled(Array.from({ length: 100 }, () => tokens.getToken('general')))
    await pass(2 * second)
    issuer.respondWith(undefined)
    await pass(5 * second)
    expect((await calls).every(({ status }) => status === 'fulfilled')).toBe(true)
    expect(issuer.count).toBeLessThanOrEqual(6)
  }
})

test('after maxWait all waiters get the last error, and later calls fail fast until the next spaced try', async () => {
  const { tokens, issuer, eventsOf } = fakeService()
  issuer.respondWith(() => unavailable())
  const calls = Promise.allSettled([tokens.getToken('general'), tokens.getToken('general')])
  const settled = vi.fn()
  void calls.finally(settled)
  while (settled.mock.calls.length === 0) await pass(100)
  expect(Date.now() - start).toBeGreaterThan(12 * second)
  expect(Date.now() - start).toBeLessThanOrEqual(15 * second)
  for (const outcome of await calls)
    expect(outcome).toMatchObject({
      status: 'rejected',
      reason: { code: 'TOKEN_REQUEST_FAILED', status: 503 },
    })
  const asked = issuer.count
  expect(asked).toBeLessThanOrEqual(15)

  const { retryIn = 0 } = eventsOf('renewal.failed').at(-1) ?? {}
  expect(retryIn).toBeLessThanOrEqual(second)
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_REQUEST_FAILED' })
  expect(issuer.count).toBe(asked)
  issuer.respondWith(undefined)
  await pass(Math.ceil(retryIn))
  await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
})

test.each(['30', 'Sat, 21 Nov 2026 00:00:30 GMT'])('Retry-After %j is heeded', async (retryAfter) => {
  const { tokens, issuer } = fakeService()
  issuer.respondWith(() => unavailable(retryAfter))
  for (let call = 0; call < 30; call += 1) {
    await expect(tokens.getToken('general')).rejects.toMatchObject({ retryAfter: 30 * second })
    await pass(33)
  }
  expect(issuer.count).toBe(1)
  issuer.respondWith(undefined)
  await pass(29 * second)
  await tokens.getToken('general').catch(() => {})
  await pass(second)
  await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
  expect(issuer.count).toBe(2)
})

test('a short Retry-After is waited out within the same flight', async () => {
  const { tokens, issuer } = fakeService()
  issuer.respondOnceWith(() => unavailable('3'))
  const token = tokens.getToken('general')
  await pass(3 * second - 1)
  expect(issuer.count).toBe(1)
  await pass(1)
  await expect(token).resolves.toMatchObject({ value: 'token-1' })
})

test.each(['0', '999999'])('Retry-After %j neither makes a storm nor lasts for ever', async (retryAfter) => {
  const { tokens, issuer } = fakeService()
  issuer.respondOnceWith(() => unavailable(retryAfter))
  const first = tokens.getToken('general').catch(() => undefined)
  await pass(249)
  expect(issuer.count).toBe(1)
  await pass(5 * minute)
  await first
  await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
})

test('an issuer that asks for no pause, again and again, is spaced as if it had asked for nothing', async () => {
  const { tokens, issuer } = fakeService()
  issuer.respondWith(() => unavailable('0'))
  for (let call = 0; call < 60; call += 1) {
    void tokens.getToken('general').catch(() => {})
    await pass(second)
  }
  expect(issuer.count).toBeLessThan(60)
})

test('a token that is over when its answer comes is given to nobody, and asked for again', async () => {
  const { tokens, issuer, eventsOf } = fakeService()
  issuer.lifetime = 1
  issuer.respondOnceWith(() => issuer.after(second))
  const token = tokens.getToken('general')
  await pass(second + 250)
  await expect(token).resolves.toMatchObject({ value: 'token-2' })
  expect(eventsOf('renewal.failed')).toMatchObject([{ code: 'TOKEN_REQUEST_TIMEOUT' }])
})

test('closing ends the pause between two tries, and tells those who wait why they have no token', async () => {
  const { tokens, issuer } = fakeService()
  issuer.respondWith(() => unavailable('10'))
  const outcome = expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_REQUEST_FAILED' })
  await pass(second)
  await tokens.close()
  await outcome
  expect(issuer.count).toBe(1)
  expect(vi.getTimerCount()).toBe(0)
})

test('a refused client fails fast for 30 s, and not longer', async () => {
  const { tokens, issuer } = fakeService()
  issuer.respondOnceWith(() => refusal())
  for (let call = 0; call < 1_000; call += 1)
    await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
  await pass(30 * second - 1)
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
  expect(issuer.count).toBe(1)
  await pass(1)
  await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
})

test('the first caller\u2019s abort ends its own wait at once; the others get the token', async () => {
  const { tokens, issuer } = fakeService()
  issuer.respondOnceWith(() => issuer.after(100))
  const controller = new AbortController()
  const aborted = tokens.getToken('general', { signal: controller.signal })
  const others = Promise.all([tokens.getToken('general'), tokens.getToken('general')])
  await pass(20)
  controller.abort()
  await expect(aborted).rejects.toMatchObject({ name: 'AbortError' })
  await pass(80)
  expect((await others).map(({ value }) => value)).toEqual(['token-1', 'token-1'])
  expect(issuer.count).toBe(1)
})

test('when every waiter has gone, a failing flight ends, and a later call starts anew', async () => {
  const { tokens, issuer } = fakeService()
  issuer.respondOnceWith(() => unavailable())
  const controller = new AbortController()
  const aborted = tokens.getToken('general', { signal: controller.signal })
  await pass(0)
  controller.abort()
  await expect(aborted).rejects.toMatchObject({ name: 'AbortError' })
  await pass(minute)
  expect(issuer.count).toBe(1)
  expect(vi.getTimerCount()).toBe(0)
  await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
})

test('an issuer that never answers is given up after maxWait, and a later call starts anew', async () => {
  const { tokens, issuer } = fakeService()
  issuer.respondWith(() => new Promise(() => {}))
  const outcome = expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_REQUEST_TIMEOUT' })
  await pass(5 * second)
  expect(issuer.count).toBe(1)
  await pass(10 * second)
  await outcome
  expect(issuer.count).toBeLessThanOrEqual(3)
  issuer.respondWith(undefined)
  await pass(second)
  await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
})

test.each<[string, () => void]>([
  ['sleep or thaw: only the wall clock went on', () => vi.setSystemTime(start + 2 * hour)],
  [
    'a wall clock set back: only the monotonic clock went on',
    () => {
      vi.advanceTimersByTime(hour)
      vi.setSystemTime(start - 2 * hour)
    },
  ],
])('%s: no dead token is sent, and no storm follows', async (_what, jump) => {
  const { tokens, issuer } = fakeService()
  await tokens.warmUp()
  jump()
  const after = await Promise.all(Array.from({ length: 50 }, () => tokens.getToken('general')))
  expect(new Set(after.map(({ value }) => value))).toEqual(new Set(['token-2']))
  await pass(minute)
  await tokens.getToken('general')
  expect(issuer.count).toBe(2)
})

test('a rejected flight is never remembered as an answer', async () => {
  const { tokens, issuer } = fakeService({ maxWait: 1 })
  issuer.respondOnceWith(() => new Response('<html>')).respondOnceWith(() => new Response('{}'))
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_RESPONSE_INVALID' })
  await pass(second)
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_RESPONSE_INVALID' })
  await pass(2 * second)
  await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
})
