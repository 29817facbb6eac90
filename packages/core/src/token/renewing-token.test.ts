import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { client, fakeService, refusal, unavailable } from '../../test/fake-issuer.ts'
import { generalIssuer, weblinkIssuer } from '../issuer/issuer-options.ts'
import { Delay } from '../time/delay.ts'

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

test('a token that expired between two calls is renewed for the second one', async () => {
  const { tokens, issuer, eventsOf } = fakeService()
  await tokens.warmUp()
  await pass(10 * hour)
  expect(issuer.count).toBe(1)
  expect((await tokens.getToken('general')).value).toBe('token-2')
  expect(eventsOf('token.renewed').map(({ reason }) => reason)).toEqual(['startup', 'expired'])
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

test('a call waits for a renewal that began before it no longer than `maxWait`, whatever `requestTimeout` is', async () => {
  const { tokens, issuer } = fakeService({
    renewBefore: minute,
    requestTimeout: minute,
    maxWait: 15 * second,
  })
  await tokens.warmUp()
  issuer.respondWith(() => new Promise<Response>(() => {}))
  await pass(hour - 11 * second)
  await tokens.getToken('general')
  await pass(11 * second)
  const outcome = vi.fn()
  tokens.getToken('general').catch(outcome)
  await pass(15 * second)
  expect(outcome).toHaveBeenCalledWith(expect.objectContaining({ code: 'TOKEN_REQUEST_TIMEOUT' }))
})

test.each([2 ** 31 - 1, 2 ** 31, Number.MAX_VALUE])(
  'a `requestTimeout` of %d ms is no short one',
  async (ms) => {
    const { tokens, issuer } = fakeService({ requestTimeout: ms, maxWait: ms })
    issuer.respondOnceWith(() => issuer.after(minute))
    const token = tokens.getToken('general')
    await pass(minute)
    expect((await token).value).toBe('token-1')
    expect(issuer.count).toBe(1)
  },
)

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
  const waiting = tokens.getToken('general')
  await pass(9)
  expect(issuer.count).toBe(1)
  await pass(1)
  await expect(waiting).resolves.toMatchObject({ value: 'token-1' })
  expect(issuer.count).toBe(2)
})

test('calls wait for what Retry-After asks for if it leaves 250 ms of `maxWait` for the try, else they fail at once', async () => {
  const { tokens, issuer } = fakeService({ maxWait: 15 * second })
  issuer.respondOnceWith(() => unavailable('30'))
  await expect(tokens.getToken('general')).rejects.toMatchObject({ status: 503 })
  await pass(15 * second + 250)
  await expect(tokens.getToken('general')).rejects.toMatchObject({ status: 503 })
  await pass(1)
  const waiting = tokens.getToken('general')
  await pass(15 * second - 252)
  expect(issuer.count).toBe(1)
  await pass(1)
  await expect(waiting).resolves.toMatchObject({ value: 'token-1' })
})

test('a short Retry-After to a background renewal loses no call, though the token ends meanwhile', async () => {
  const { tokens, issuer, eventsOf } = fakeService()
  issuer.lifetime = 2
  await tokens.warmUp()
  const failed = vi.fn()
  issuer.respondOnceWith(() => unavailable('2'))
  for (let call = 0; call < 45; call += 1) {
    tokens.getToken('general').catch(failed)
    await pass(100)
  }
  await pass(15 * second)
  expect(eventsOf('renewal.failed')).toHaveLength(1)
  expect(failed).not.toHaveBeenCalled()
})

test('a call whose wait for the next try is aborted starts none', async () => {
  const { tokens, issuer } = fakeService({ maxWait: 4 * second })
  issuer.respondOnceWith(() => unavailable('5'))
  await expect(tokens.getToken('general')).rejects.toMatchObject({ status: 503 })
  await pass(2 * second)
  const controller = new AbortController()
  const waiting = tokens.getToken('general', { signal: controller.signal })
  await pass(second)
  controller.abort()
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
  await pass(minute)
  expect(issuer.count).toBe(1)
  expect(vi.getTimerCount()).toBe(0)
})

test('no try comes before `retryIn` of the event before it is over', async () => {
  const tooEarly: number[] = []
  for (let run = 0; run < 40; run += 1) {
    let earliest = 0
    const { tokens, issuer } = fakeService(
      { renewBefore: run % 2 ? 5 * second : undefined },
      {
        observe: (event) => {
          if (event.type === 'renewal.failed') earliest = performance.now() + event.retryIn
        },
      },
    )
    issuer.lifetime = [2, 10, 60, 600][run % 4]
    let down = false
    issuer.respondWith(() => {
      if (performance.now() < earliest) tooEarly.push(earliest - performance.now())
      return down ? unavailable(run % 3 ? undefined : '3') : issuer.token()
    })
    for (let step = 0; step < 300; step += 1) {
      down = step % 100 > 30 && step % 100 < 70
      void tokens.getToken('general').catch(() => {})
      await pass(Math.floor(Math.random() * 500))
    }
    await tokens.close()
  }
  expect(tooEarly).toEqual([])
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

test('a token that has expired when its response arrives is not used, and is requested again', async () => {
  const { tokens, issuer, eventsOf } = fakeService()
  issuer.lifetime = 1
  issuer.respondOnceWith(() => issuer.after(second))
  const token = tokens.getToken('general')
  await pass(second + 250)
  await expect(token).resolves.toMatchObject({ value: 'token-2' })
  expect(eventsOf('renewal.failed')).toMatchObject([{ code: 'TOKEN_REQUEST_TIMEOUT' }])
})

test('closing ends the pause between two tries, and waiting calls fail with the reason of the last one', async () => {
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

test('the first caller\u2019s abort ends its own wait at once, and the others get the token', async () => {
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

test('a failing flight that no call waits for any more ends, and a later call starts anew', async () => {
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

test('a failed token request is one event, also if no call waits for the next try any more', async () => {
  const { tokens, issuer, eventsOf } = fakeService()
  issuer.respondWith(() => unavailable())
  for (let call = 0; call < 5; call += 1) {
    const controller = new AbortController()
    tokens.getToken('general', { signal: controller.signal }).catch(() => {})
    await pass(50)
    controller.abort()
    await pass(10 * second)
    expect(eventsOf('renewal.failed')).toHaveLength(issuer.count)
  }
})

test('a call does not fail because the one before it gave up early', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.999_999)
  const { tokens, issuer } = fakeService()
  issuer.respondOnceWith(() => unavailable())
  const controller = new AbortController()
  tokens.getToken('general', { signal: controller.signal }).catch(() => {})
  await pass(50)
  controller.abort()
  await pass(250)
  expect(issuer.count).toBe(1)
  const token = tokens.getToken('general')
  await pass(second)
  await expect(token).resolves.toMatchObject({ value: 'token-1' })
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

test('a failed flight is not used for later calls', async () => {
  const { tokens, issuer } = fakeService({ maxWait: 1 })
  issuer.respondOnceWith(() => new Response('<html>')).respondOnceWith(() => new Response('{}'))
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_RESPONSE_INVALID' })
  await pass(second)
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_RESPONSE_INVALID' })
  await pass(2 * second)
  await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
})

test.each([1, 2, 5, 10, 30, 60, 120, 200, 300, 400, 3_600])(
  'of a lifetime of %i s there is always time to renew ahead of the calls that would wait',
  async (lifetime) => {
    for (const random of [0, 0.5, 0.999_999]) {
      vi.spyOn(Math, 'random').mockReturnValue(random)
      const { tokens, issuer, eventsOf } = fakeService()
      issuer.lifetime = lifetime
      await tokens.warmUp()
      // 200 calls per lifetime, spread evenly
      for (let call = 0; call < 1_000; call += 1) {
        await tokens.getToken('general')
        await pass(lifetime * 5)
      }
      const renewals = eventsOf('token.renewed').slice(1)
      expect(new Set(renewals.map(({ reason, joiners }) => `${reason} ${joiners}`))).toEqual(
        new Set(['ahead 0']),
      )
      // five lifetimes, each cut short by a tenth at most
      expect(renewals.length).toBeGreaterThanOrEqual(4)
      expect(renewals.length).toBeLessThanOrEqual(6)
    }
  },
)

test('the floor is a fortieth of a short lifetime: calls wait from there on, and 1 ms earlier they do not', async () => {
  const { tokens, issuer } = fakeService({ renewBefore: 0 })
  issuer.lifetime = 60
  await tokens.warmUp()
  await pass(58_500 - 1)
  expect((await tokens.getToken('general')).value).toBe('token-1')
  await pass(1)
  expect((await tokens.getToken('general')).value).toBe('token-2')
})

test('expires_in 0 is a failure like any other: 1,000 calls in 10 s cost a handful of requests', async () => {
  const { tokens, issuer } = fakeService({ maxWait: 1 })
  issuer.lifetime = 0
  for (let call = 0; call < 1_000; call += 1) {
    await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_RESPONSE_INVALID' })
    await pass(10)
  }
  expect(issuer.count).toBeLessThanOrEqual(6)
})

test('general and weblink tokens that end together cost one request each, and neither call gets the other\u2019s', async () => {
  const { tokens, issuer } = fakeService(
    {},
    {
      issuers: {
        general: generalIssuer({ authUrl: 'https://auth.example.com', credentials: client }),
        weblink: weblinkIssuer({ authUrl: 'https://weblink-auth.example.com', credentials: client }),
      },
    },
  )
  issuer.respondWith(() => {
    const { scope = 'general' } = issuer.requests.at(-1) ?? {}
    return Response.json({
      access_token: `${scope}-${issuer.count}`,
      token_type: 'Bearer',
      expires_in: 3_600,
    })
  })
  await tokens.warmUp()
  await pass(hour)
  const names = Array.from({ length: 100 }, (_, call) => (call % 2 ? 'general' : 'weblink'))
  const values = await Promise.all(names.map(async (name) => (await tokens.getToken(name)).value))
  expect(issuer.count).toBe(4)
  for (const [call, value] of values.entries()) expect(value).toMatch(call % 2 ? /^general-/ : /^WebLinkAPI-/)
})

test('two clients of one token endpoint have a token each', async () => {
  const tokenEndpoint = 'https://auth.example.com/token'
  const { tokens, issuer } = fakeService(
    {},
    {
      issuers: {
        general: { tokenEndpoint, credentials: client },
        reports: { tokenEndpoint, scope: 'reports', credentials: client },
        other: { tokenEndpoint, credentials: { clientId: 'client-2', clientSecret: 'secret-2' } },
      },
    },
  )
  const names = ['general', 'reports', 'other', 'general', 'reports', 'other']
  const values = await Promise.all(names.map(async (name) => (await tokens.getToken(name)).value))
  expect(new Set(values).size).toBe(3)
  expect(values.slice(0, 3)).toEqual(values.slice(3))
  expect(issuer.requests.map(({ client_id, scope }) => [client_id, scope])).toEqual([
    ['client-1', undefined],
    ['client-1', 'reports'],
    ['client-2', undefined],
  ])
})

test('an issuer that hangs delays no call of another', async () => {
  const issuers = {
    general: generalIssuer({ authUrl: 'https://auth.example.com', credentials: client }),
    weblink: weblinkIssuer({ authUrl: 'https://weblink-auth.example.com', credentials: client }),
  }
  const { tokens, issuer } = fakeService({}, { issuers })
  issuer.respondWith(() => (issuer.requests.at(-1)?.['scope'] ? issuer.token() : new Promise(() => {})))
  const hanging = tokens.getToken('general').catch((error: unknown) => error)
  // no time passes for these
  for (let call = 0; call < 100; call += 1)
    await expect(tokens.getToken('weblink')).resolves.toMatchObject({ issuer: 'weblink' })
  await pass(15 * second)
  await expect(hanging).resolves.toMatchObject({ code: 'TOKEN_REQUEST_TIMEOUT', issuer: 'general' })
})

test('near its end the old token serves as soon as one try has failed, and tries are spaced', async () => {
  // full jitter may draw several short ones in a row; this is the mean
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
  const { tokens, issuer } = fakeService({ renewBefore: 0 })
  await tokens.warmUp()
  issuer.respondWith(() => unavailable())
  await pass(hour - 8 * second)
  // 7 s of calls, none of which takes any time
  for (let call = 0; call < 70; call += 1) {
    await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
    await pass(100)
  }
  expect(issuer.count - 1).toBeLessThanOrEqual(5)
})

test('failed tries near the end of a token do not make the calls after it fail fast', async () => {
  const { tokens, issuer } = fakeService({ renewBefore: 0 })
  await tokens.warmUp()
  issuer.respondWith(() => unavailable())
  await pass(hour - 8 * second)
  for (let call = 0; call < 79; call += 1) {
    await tokens.getToken('general')
    await pass(100)
  }
  await pass(100)
  const after = tokens.getToken('general')
  await pass(second)
  issuer.respondWith(undefined)
  await pass(2 * second)
  await expect(after).resolves.toMatchObject({ value: 'token-2' })
})

test.each<[string, () => Response | Error, object]>([
  ['status', () => unavailable(), { code: 'TOKEN_REQUEST_FAILED', status: 503 }],
  [
    'error of the issuer',
    () => refusal(),
    { code: 'TOKEN_REQUEST_REFUSED', status: 401, oauthError: 'invalid_client' },
  ],
  [
    'transport code',
    () =>
      new TypeError('fetch failed', {
        cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
      }),
    { code: 'TOKEN_REQUEST_FAILED', transportCode: 'ECONNREFUSED' },
  ],
])('a failed renewal says why: the %s and the endpoint', async (_what, answer, expected) => {
  const { tokens, issuer, eventsOf } = fakeService({ maxWait: 1 })
  issuer.respondOnceWith(answer)
  await tokens.warmUp().catch(() => {})
  expect(eventsOf('renewal.failed')).toEqual([
    {
      type: 'renewal.failed',
      issuer: 'general',
      endpoint: 'https://auth.example.com/public/security/v1/token',
      retryIn: expect.any(Number) as number,
      tokenStillValid: false,
      ...expected,
    },
  ])
})

test('a background renewal that fails once is tried again well before expiry', async () => {
  const { tokens, issuer } = fakeService({ renewBefore: 5 * minute })
  await tokens.warmUp()
  await pass(55 * minute)
  issuer.respondOnceWith(() => new TypeError('fetch failed'))
  await tokens.getToken('general')
  await pass(30 * second)
  expect((await tokens.getToken('general')).value).toBe('token-1')
  await pass(0)
  expect((await tokens.getToken('general')).value).toBe('token-2')
  expect(issuer.count).toBe(3)
})

test('background tries are drawn from 0 to 1 s, 2 s, 4 s … 60 s, and 250 ms apart at least', async () => {
  for (const [random, apart] of [
    [0, [0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25]],
    [0.5, [0.5, 1, 2, 4, 8, 16, 30, 30, 30]],
    [0.999_999, [1, 2, 4, 8, 16, 32, 60, 60, 60]],
  ] as const) {
    vi.spyOn(Math, 'random').mockReturnValue(random)
    const { tokens, issuer, eventsOf } = fakeService({ renewBefore: 30 * minute })
    await tokens.warmUp()
    issuer.respondWith(() => unavailable())
    await pass(31 * minute)
    for (let call = 0; call < 600; call += 1) {
      await tokens.getToken('general')
      await pass(second)
    }
    const spacings = eventsOf('renewal.failed').map(({ retryIn }) => Math.round(retryIn / 10) / 100)
    expect(spacings.slice(0, 9)).toEqual(apart)
  }
})

test.each<[string, () => Response]>([
  ['503 and seconds', () => unavailable('120')],
  ['503 and a date', () => unavailable(new Date(Date.now() + 2 * minute).toUTCString())],
  ['429', () => new Response('', { status: 429, headers: { 'retry-after': '120' } })],
])(
  'a background renewal heeds the Retry-After of %s, while calls keep the old token',
  async (_what, answer) => {
    const { tokens, issuer } = fakeService({ renewBefore: 5 * minute })
    await tokens.warmUp()
    await pass(55 * minute)
    issuer.respondOnceWith(answer)
    const askedAt: number[] = []
    for (let call = 0; call < 130; call += 1) {
      const before = issuer.count
      expect((await tokens.getToken('general')).value).toBe(issuer.count > 2 ? 'token-2' : 'token-1')
      await pass(0)
      if (issuer.count > before) askedAt.push(call)
      await pass(second)
    }
    expect(askedAt).toEqual([0, 120])
  },
)

test('429 and Retry-After are heeded by calls that wait, too', async () => {
  const { tokens, issuer } = fakeService()
  issuer.respondOnceWith(() => new Response('', { status: 429, headers: { 'retry-after': '30' } }))
  for (let call = 0; call < 30; call += 1)
    await expect(tokens.getToken('general')).rejects.toMatchObject({ status: 429, retryAfter: 30 * second })
  await pass(15 * second)
  await expect(tokens.getToken('general')).rejects.toMatchObject({ status: 429 })
  await pass(15 * second - 1)
  const waiting = tokens.getToken('general')
  await pass(0)
  expect(issuer.count).toBe(1)
  await pass(1)
  await expect(waiting).resolves.toMatchObject({ value: 'token-1' })
})

test('Retry-After is heeded for 5 minutes at most', async () => {
  const { tokens, issuer } = fakeService()
  issuer.respondOnceWith(() => unavailable('999999'))
  await expect(tokens.getToken('general')).rejects.toMatchObject({ status: 503 })
  await pass(4 * minute)
  await expect(tokens.getToken('general')).rejects.toMatchObject({ status: 503 })
  await pass(minute - 1)
  const waiting = tokens.getToken('general')
  await pass(0)
  expect(issuer.count).toBe(1)
  await pass(1)
  await expect(waiting).resolves.toMatchObject({ value: 'token-1' })
})

test('Retry-After: 0 in a lasting outage leaves the spacing as it is', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0)
  const { tokens, issuer } = fakeService()
  issuer.respondWith(() => unavailable('0'))
  for (let call = 0; call < 60; call += 1) {
    tokens.getToken('general').catch(() => {})
    await pass(second)
  }
  // four flights of 15 s; a try every 250 ms would be 240
  expect(issuer.count).toBeLessThanOrEqual(70)
})

test.each<[string, () => Response]>([
  ['403 with HTML', () => new Response('<h1>blocked</h1>', { status: 403 })],
  ['502 with HTML', () => new Response('<h1>bad gateway</h1>', { status: 502 })],
  ['200 with HTML', () => new Response('<h1>sign in</h1>')],
  ['200 without a token', () => Response.json({ token_type: 'Bearer' })],
  ['200 with an error', () => Response.json({ error: 'invalid_client' })],
])('%s passes: the same flight tries again, and no call is lost', async (_what, answer) => {
  const { tokens, issuer, eventsOf } = fakeService()
  issuer.respondOnceWith(answer)
  const calls = Promise.all(Array.from({ length: 50 }, () => tokens.getToken('general')))
  await pass(second)
  expect(new Set((await calls).map(({ value }) => value))).toEqual(new Set(['token-1']))
  expect(issuer.count).toBe(2)
  expect(eventsOf('renewal.failed')).toMatchObject([
    { code: expect.stringMatching(/^TOKEN_RE(?:QUEST_FAILED|SPONSE_INVALID)$/), tokenStillValid: false },
  ])
})

test('an issuer without TLS 1.2 is not asked twice by the same flight', async () => {
  const { tokens, issuer } = fakeService()
  const tooOld = Object.assign(new Error('ssl'), { code: 'ERR_SSL_UNSUPPORTED_PROTOCOL' })
  issuer.respondWith(() => new TypeError('fetch failed', { cause: tooOld }))
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'INSECURE_TRANSPORT' })
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'INSECURE_TRANSPORT' })
  expect(issuer.count).toBe(1)
})

test('a call that joins late and aborts ends at once', async () => {
  const { tokens, issuer } = fakeService()
  issuer.respondOnceWith(() => issuer.after(300))
  const first = tokens.getToken('general')
  const controller = new AbortController()
  const joiner = tokens.getToken('general', { signal: controller.signal })
  await pass(20)
  controller.abort(new Error('enough'))
  // without any time passing
  await expect(joiner).rejects.toThrow('enough')
  await pass(280)
  await expect(first).resolves.toMatchObject({ value: 'token-1' })
})

test('a background renewal goes on though the call that started it is aborted', async () => {
  const { tokens, issuer } = fakeService({ renewBefore: 5 * minute })
  await tokens.warmUp()
  await pass(56 * minute)
  issuer.respondOnceWith(() => issuer.after(second))
  const controller = new AbortController()
  await tokens.getToken('general', { signal: controller.signal })
  controller.abort()
  await pass(second)
  expect((await tokens.getToken('general')).value).toBe('token-2')
  expect(issuer.count).toBe(2)
})

test('a signal that lives long keeps nothing of the calls that it was given to', async () => {
  const { tokens, issuer } = fakeService()
  issuer.respondOnceWith(() => issuer.after(100))
  const { signal } = new AbortController()
  const calls = Promise.all(Array.from({ length: 50 }, () => tokens.getToken('general', { signal })))
  await pass(0)
  expect(getEventListeners(signal, 'abort')).toHaveLength(50)
  await pass(100)
  await calls
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

test('the pause between two tries keeps the process alive only while calls wait', async () => {
  const unref = vi.spyOn(Delay.prototype, 'unref')
  const ref = vi.spyOn(Delay.prototype, 'ref')
  const { tokens, issuer } = fakeService()
  issuer.respondOnceWith(() => unavailable('3'))
  const controller = new AbortController()
  const aborted = tokens.getToken('general', { signal: controller.signal })
  await pass(second)
  controller.abort()
  await expect(aborted).rejects.toMatchObject({ name: 'AbortError' })
  expect([unref, ref].map(({ mock }) => mock.calls.length)).toEqual([1, 0])
  const joiner = tokens.getToken('general')
  await pass(0)
  expect([unref, ref].map(({ mock }) => mock.calls.length)).toEqual([1, 1])
  await pass(2 * second)
  await expect(joiner).resolves.toMatchObject({ value: 'token-1' })
  expect(issuer.count).toBe(2)
})

test('close does not wait for the next try', async () => {
  const { tokens, issuer } = fakeService()
  issuer.respondWith(() => unavailable('10'))
  const waiting = expect(tokens.getToken('general')).rejects.toMatchObject({ status: 503 })
  await pass(0)
  await tokens.close()
  await waiting
  expect(issuer.count).toBe(1)
  expect(vi.getTimerCount()).toBe(0)
})
