import { expect, test, vi } from 'vitest'
import { fakeTime, hour, minute, pass, second, start } from '../../test/fake-time.ts'
import { fakeService, refusal, unavailable } from '../../test/fake-issuer.ts'

fakeTime()

test('a background renewal that fails is an event, spaced, and tried again before expiry', async () => {
  // drawn, there are more than ten tries once in 250 runs
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
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

test('after an outage of any length, calls fail for 5 s at most', async () => {
  const random = vi.spyOn(Math, 'random').mockReturnValue(0.99)
  const { tokens, issuer } = fakeService({ maxWait: 3 * second })
  issuer.respondWith(() => new Response('', { status: 502 }))
  const failed: number[] = []
  const call = (): void => {
    tokens.getToken('general').catch(() => failed.push(Date.now()))
  }
  for (let calls = 0; calls < 300; calls += 1) {
    call()
    await pass(second)
  }
  issuer.respondWith(undefined)
  const recovered = Date.now()
  for (let calls = 0; calls < 60; calls += 1) {
    call()
    await pass(second)
  }
  random.mockRestore()
  expect((failed.at(-1) ?? 0) - recovered).toBeLessThanOrEqual(5 * second)
})

test('a failure says how many tries before it failed for the same reason', async () => {
  const { tokens, issuer, eventsOf } = fakeService({ maxWait: minute })
  const lost = new TypeError('fetch failed')
  for (const answer of [unavailable(), unavailable(), unavailable(), lost, unavailable()])
    issuer.respondOnceWith(() => answer)
  const first = tokens.getToken('general')
  await pass(20 * second)
  await first
  expect(eventsOf('renewal.failed').map(({ repeats }) => repeats)).toEqual([0, 1, 2, 0, 0])
  await pass(2 * hour)
  issuer.respondOnceWith(() => unavailable())
  const next = tokens.getToken('general')
  await pass(second)
  await next
  expect(eventsOf('renewal.failed').at(-1)).toMatchObject({ repeats: 0 })
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

test.each([1, 2, 3, 15])(
  'an outage that ends 500 ms before a `maxWait` of %d s loses no call',
  async (maxWait) => {
    for (const random of [0, 0.25, 0.5, 0.75, 0.999_999]) {
      vi.spyOn(Math, 'random').mockReturnValue(random)
      const { tokens, issuer } = fakeService({ maxWait: maxWait * second })
      issuer.respondWith(() => unavailable())
      const call = expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
      await pass(maxWait * second - 500)
      issuer.respondWith(undefined)
      await pass(500)
      await call
    }
  },
)

test('after maxWait all waiters get the last error, and later calls fail fast until the next spaced try', async () => {
  const { tokens, issuer, eventsOf } = fakeService()
  issuer.respondWith(() => new Response('', { status: 502 }))
  const calls = Promise.allSettled([tokens.getToken('general'), tokens.getToken('general')])
  const settled = vi.fn()
  void calls.finally(settled)
  while (settled.mock.calls.length === 0) await pass(100)
  expect(Date.now() - start).toBeGreaterThan(12 * second)
  expect(Date.now() - start).toBeLessThanOrEqual(15 * second)
  for (const outcome of await calls)
    expect(outcome).toMatchObject({
      status: 'rejected',
      reason: { code: 'TOKEN_REQUEST_FAILED', status: 502 },
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

test('an issuer that is slow to say 503 is not one that does not respond, though its last try is cut short', async () => {
  const { tokens, issuer, eventsOf } = fakeService()
  issuer.respondWith(() => issuer.after(1_500, unavailable))
  const failed = vi.fn()
  void tokens.getToken('general').catch(failed)
  await pass(15 * second)
  const error = { code: 'TOKEN_REQUEST_FAILED', status: 503 }
  expect(failed.mock.calls[0]?.[0]).toMatchObject(error)
  expect(eventsOf('renewal.failed').at(-1)).toMatchObject(error)
  expect(tokens.status().issuers).toMatchObject({ general: { lastError: 'TOKEN_REQUEST_FAILED' } })
})

test('an outage says how many tries were made in what time and since when, and what calls do meanwhile', async () => {
  const { tokens, issuer, eventsOf } = fakeService({ maxWait: 3 * second })
  const reset = Object.assign(new Error('reset'), { code: 'ECONNREFUSED' })
  issuer.respondWith(() => new TypeError('fetch failed', { cause: reset }))
  const failed = vi.fn()
  void tokens.getToken('general').catch(failed)
  await pass(1)
  const failing = {
    failingSince: new Date(start).toISOString(),
    failedTries: 1,
    lastError: 'TOKEN_REQUEST_FAILED',
  }
  expect(tokens.status().issuers).toEqual({ general: { token: 'none', ...failing } })
  while (failed.mock.calls.length === 0) await pass(1)
  const tries = issuer.count
  expect(failed.mock.calls[0]?.[0]).toMatchObject({
    message: expect.stringContaining(
      `(ECONNREFUSED): nothing listens at this port, check the URL; gave up after ${tries} tries in ${Date.now() - start} ms: the next one would come too late for \`maxWait\` (3000 ms) (see `,
    ) as string,
    cause: { message: 'ECONNREFUSED' },
  })
  expect(tokens.status().issuers).toMatchObject({ general: { ...failing, failedTries: tries } })
  expect(eventsOf('renewal.failed').map(({ failFast }) => failFast)).toEqual([
    ...Array.from({ length: tries - 1 }, () => false),
    true,
  ])
  issuer.respondWith(undefined)
  await pass(second)
  await tokens.getToken('general')
  expect(Object.keys(tokens.status().issuers['general'] ?? {})).toEqual(['token', 'expiresAt'])
})

test.each(['30', 'Sat, 21 Nov 2026 00:00:30 GMT'])('Retry-After %j is heeded', async (retryAfter) => {
  const { tokens, issuer } = fakeService()
  issuer.respondWith(() => unavailable(retryAfter))
  for (let call = 0; call < 30; call += 1) {
    await expect(tokens.getToken('general')).rejects.toMatchObject({
      message: expect.stringContaining('the next one (Retry-After: 30000 ms) would come too late') as string,
      retryAfter: 30 * second,
    })
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

test.each(['0', '999999'])('Retry-After %j neither makes a storm nor lasts forever', async (retryAfter) => {
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

test('a refused request fails fast for 30 s, and not longer', async () => {
  const { tokens, issuer } = fakeService()
  issuer.respondOnceWith(() => refusal('invalid_scope'))
  for (let call = 0; call < 1_000; call += 1)
    await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
  await pass(30 * second - 1)
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
  expect(issuer.count).toBe(1)
  await pass(1)
  await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
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
  // an issuer that is down, not one that may be busy
  issuer.respondWith(() => new Response(null, { status: 500 }))
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
  // four flights of 15 s, 18 tries each; a try every 250 ms would be 240
  expect(issuer.count).toBeLessThanOrEqual(72)
})

test.each<[string, () => Response]>([
  ['403 with HTML', () => new Response('<h1>blocked</h1>', { status: 403 })],
  ['502 with HTML', () => new Response('<h1>bad gateway</h1>', { status: 502 })],
  ['200 with HTML', () => new Response('<h1>sign in</h1>')],
  ['200 without a token', () => Response.json({ token_type: 'Bearer' })],
  ['200 with an error', () => Response.json({ error: 'not ready' })],
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
