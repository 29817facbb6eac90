import { expect, test, vi } from 'vitest'

import type { Api, Exchange } from '../send/api.ts'
import type { TokenlaneEvent } from '../events.ts'
import { fakeTokens, type FakeTokens } from './fake-tokens.ts'

const base = 'https://api.example.com/'
const weblink = 'https://weblink.example.com/api/'

/** Sends one call, and returns the tokens with which it was sent. */
async function call(tokens: FakeTokens, url = base, status: number | readonly number[] = 200) {
  const sent: string[] = []
  const attempt = async (authorization: string): Promise<Exchange<number>> => {
    const answer = typeof status === 'number' ? status : (status[sent.length] ?? 200)
    sent.push(authorization)
    return { status: answer, result: answer, discard() {} }
  }
  const result = await (tokens.route(url) as Api).send(attempt)
  return { sent, result }
}

test('a call is sent with the token of its issuer, without a request for it', async () => {
  const tokens = fakeTokens({
    apis: [
      { baseUrl: base, issuer: 'general' },
      { baseUrl: weblink, issuer: 'weblink' },
    ],
  })
  expect(await call(tokens, `${base}records`)).toMatchObject({ sent: ['Bearer general-token'] })
  expect(await call(tokens, `${weblink}records`)).toMatchObject({ sent: ['Bearer weblink-token'] })
  expect(tokens.route('https://other.example.com/')).toBeUndefined()
  expect((await tokens.getToken('general')).value).toBe('general-token')
  expect(tokens.status().issuers.weblink).toEqual({ token: 'live', expiresAt: '2100-01-01T00:00:00.000Z' })
})

test('an API is named by its base URL alone, and the token by its text', async () => {
  const tokens = fakeTokens({ apis: [base], token: 'abc' })
  expect(await call(tokens)).toMatchObject({ sent: ['Bearer abc'] })
  expect(JSON.stringify(await tokens.getToken('test'))).toBe('"[redacted]"')
})

test('the `apis` of a manager will do, also with a URL for each environment', () => {
  const apis = [{ baseUrl: { testing: base, production: weblink }, issuer: 'general' }]
  expect(fakeTokens({ apis, environment: 'testing' }).route(base)?.baseUrl).toBe(base)
  expect(() => fakeTokens({ apis })).toThrow(
    '`environment` is missing; allowed: testing, production (the environments of',
  )
  expect(() => fakeTokens({ apis, environment: 'test' })).toThrow(
    '`environment` is an unknown name; allowed: testing, production (the environments of `apis[0].baseUrl`)',
  )
})

test('the `apis` of a manager say by which statuses they refuse a token', async () => {
  const tokens = fakeTokens({ apis: [{ baseUrl: base, issuer: 'general', refusedStatuses: [401, 403] }] })
  expect((await call(tokens, base, [403])).sent).toEqual(['Bearer general-token', 'Bearer general-token-2'])
})

test('calls and sends are counted for each API, a call that is sent twice as one', async () => {
  const tokens = fakeTokens({ apis: [base, weblink] })
  await call(tokens, base, [401])
  await call(tokens, weblink)
  expect(tokens.counts(base)).toEqual({ calls: 1, sends: 2, queued: 0 })
  expect(tokens.counts(weblink)).toEqual({ calls: 1, sends: 1, queued: 0 })
  expect(tokens.counts()).toEqual({ calls: 2, sends: 3, queued: 0 })
})

test('a token that is refused once is replaced, and the call is sent once more', async () => {
  const tokens = fakeTokens({ apis: [base], token: 'abc' })
  tokens.refuseOnce(base)
  expect(await call(tokens)).toEqual({ sent: ['Bearer abc', 'Bearer abc-2'], result: 200 })
  expect(await call(tokens)).toEqual({ sent: ['Bearer abc-2'], result: 200 })
})

test('refused twice, the second 401 is final', async () => {
  const tokens = fakeTokens({ apis: [base] })
  tokens.refuseOnce()
  tokens.refuseOnce()
  expect((await call(tokens)).sent).toEqual(['Bearer test-token', 'Bearer test-token-2'])
})

test('a body that can be sent once is not sent again', async () => {
  const tokens = fakeTokens({ apis: [base] })
  tokens.refuseOnce()
  const events: string[] = []
  tokens.observe(({ type }) => events.push(type))
  const attempt = async () => ({ status: 200, result: 'first', discard() {} })
  expect(await tokens.route(base)?.send(attempt, { replayable: false })).toBe('first')
  expect(tokens.counts().sends).toBe(1)
  // no new token was refused
  expect(events).toEqual(expect.arrayContaining(['token.rejected', 'call.finished']))
  expect(events).not.toContain('rejection.repeated')
})

test('a call without a token rejects with the code that was asked for, and nothing is sent', async () => {
  const tokens = fakeTokens({ apis: [base] })
  const events: TokenlaneEvent[] = []
  tokens.observe((event) => void events.push(event))
  tokens.failOnce()
  await expect(call(tokens)).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED', issuer: 'test' })
  tokens.failOnce('TOKEN_REQUEST_TIMEOUT', 'test')
  await expect(tokens.getToken('test')).rejects.toMatchObject({ code: 'TOKEN_REQUEST_TIMEOUT' })
  expect(tokens.counts()).toMatchObject({ calls: 1, sends: 0 })
  expect((await call(tokens)).result).toBe(200)
  expect(events.map(({ type }) => type)).toContain('renewal.failed')
})

test('held calls wait in their queue, by priority, until they are released', async () => {
  const tokens = fakeTokens({ apis: [base, weblink] })
  const hold = tokens.hold(base)
  const order: number[] = []
  const calls = [0, 1, 2].map(async (priority) => {
    const attempt = async () => ({ status: 200, result: order.push(priority), discard() {} })
    await (tokens.route(base) as Api).send(attempt, { priority })
  })
  await hold.queued(3)
  expect(tokens.counts(base)).toEqual({ calls: 3, sends: 0, queued: 3 })
  expect((await call(tokens, weblink)).result).toBe(200)

  hold.release()
  hold.release()
  await Promise.all(calls)
  expect(order).toEqual([2, 1, 0])
  expect((await call(tokens)).result).toBe(200)
})

test('a full queue refuses one call more', async () => {
  const tokens = fakeTokens({ apis: [{ baseUrl: base, ratePolicy: { limits: [], maxQueued: 1 } }] })
  using hold = tokens.hold()
  const waiting = call(tokens)
  await hold.queued(1)
  await expect(call(tokens)).rejects.toMatchObject({ code: 'QUEUE_FULL' })
  hold.release()
  expect((await waiting).result).toBe(200)
})

test('no limit and no pause makes a call wait', async () => {
  vi.useFakeTimers()
  const ratePolicy = { limits: [{ quota: 1, window: 60_000 }], spread: true }
  const tokens = fakeTokens({ apis: [{ baseUrl: base, ratePolicy }] })
  for (let calls = 0; calls < 3; calls += 1) expect((await call(tokens)).result).toBe(200)
  expect((await call(tokens, base, [429, 429, 429])).sent).toHaveLength(4)
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

test('a 429 is final where there is no rate policy, as in production', async () => {
  expect(await call(fakeTokens({ apis: [base] }), base, 429)).toMatchObject({ result: 429 })
})

test('any number of refusals, one after the other, renews the token each time', async () => {
  const tokens = fakeTokens({ apis: [base], token: 'abc' })
  for (let renewals = 2; renewals < 22; renewals += 1) {
    tokens.refuseOnce()
    expect((await call(tokens)).sent.at(-1)).toBe(`Bearer abc-${renewals}`)
  }
})

test('`reset` releases what is held, and begins anew with the first token', async () => {
  const tokens = fakeTokens({ apis: [base], token: 'abc' })
  tokens.refuseOnce()
  await call(tokens)
  const hold = tokens.hold()
  const waiting = call(tokens)
  await hold.queued(1)
  tokens.refuseOnce(base)
  tokens.reset()
  expect((await waiting).result).toBe(200)
  expect((await call(tokens)).sent).toEqual(['Bearer abc'])
  expect(tokens.counts()).toEqual({ calls: 1, sends: 1, queued: 0 })
})

test('a closed manager takes no call, and what is queued is refused', async () => {
  const tokens = fakeTokens({ apis: [base] })
  const hold = tokens.hold()
  const waiting = call(tokens)
  await hold.queued(1)
  const closing = tokens.close()
  await expect(waiting).rejects.toMatchObject({ code: 'MANAGER_CLOSED' })
  await closing
  await expect(tokens.getToken('test')).rejects.toMatchObject({ code: 'MANAGER_CLOSED' })
})

test('it can be created in a page, which a manager cannot', () => {
  vi.stubGlobal('window', {})
  vi.stubGlobal('document', {})
  expect(fakeTokens({ apis: [base] }).route(base)?.baseUrl).toBe(base)
  vi.unstubAllGlobals()
})

test('everything that is wrong is named at once', () => {
  const options = { apis: ['no URL', { baseUrl: `${base}?a=1` }], tokn: 'abc' }
  const create = () => fakeTokens(options as never)
  expect(create).toThrow(/^Cannot create fake tokens: 3 options are invalid:/)
  for (const part of ['`apis[0].baseUrl`', '`apis[1].baseUrl`', 'did you mean `token`'])
    expect(create).toThrow(part)
  const message = expect.stringMatching(/^Cannot create fake tokens: `/) as string
  expect(create).toThrow(
    expect.objectContaining({ failures: Array<unknown>(3).fill(expect.objectContaining({ message })) }),
  )
})

test.each<[string, (tokens: FakeTokens) => unknown]>([
  ['count calls', (tokens) => tokens.counts('https://other.example.com/')],
  ['refuse token', (tokens) => tokens.refuseOnce('https://other.example.com/')],
  ['hold calls', (tokens) => tokens.hold('https://other.example.com/')],
  ['fail', (tokens) => tokens.failOnce('TOKEN_REQUEST_FAILED', 'genral')],
  ['fail', (tokens) => tokens.failOnce('NOPE' as never)],
  ['set rate policy', (tokens) => tokens.setRatePolicy(base, { limits: [] })],
])('what is not configured is refused: %s', (action, act) => {
  expect(() => act(fakeTokens({ apis: [base] }))).toThrow(`Cannot ${action}: `)
})

test('a runtime that is too old is refused with that reason', () => {
  vi.stubGlobal('URL', {})
  try {
    expect(() => fakeTokens({ apis: [] })).toThrow('Cannot create fake tokens: Node v')
  } finally {
    vi.unstubAllGlobals()
  }
})
