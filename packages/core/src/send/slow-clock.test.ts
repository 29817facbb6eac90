import { expect, test, vi } from 'vitest'
import { answer, apiOf, inTime } from '../../test/one-api.ts'
import { fakeService, type FakeService } from '../../test/fake-issuer.ts'
import { MemoryStore } from '../../test/memory-store.ts'
import { sharedStore } from '../fleet.ts'
import { fakeTime, minute, pass, second } from '../../test/fake-time.ts'
import type { Exchange, SendOptions } from '../adapter.ts'
import type { Api, IssuerSettings, TokenManagerOptions } from '../index.ts'

fakeTime()

interface Lag {
  /** How far the API's clock is behind the issuer's, in milliseconds. */
  readonly behind: number
  /** What the API says besides. */
  readonly says?: Partial<Exchange<string>>
  readonly settings?: Partial<IssuerSettings>
  readonly options?: Partial<TokenManagerOptions>
}

const dateOf = (time: number): string => new Date(time).toUTCString()

/** An API that refuses a token before its `nbf`, in whole seconds as in a JWT. Half a second of the issuer's clock is over. */
async function behindBy({ behind, says, settings, options }: Lag): Promise<
  FakeService & {
    readonly revoked: Set<string>
    readonly sends: string[]
    call(options?: SendOptions, api?: Api): Promise<string>
  }
> {
  await pass(second / 2)
  const service = fakeService(settings, options)
  const { issuer, tokens } = service
  const begins: number[] = []
  issuer.respondWith(() => {
    begins.push(Math.floor(Date.now() / second) * second)
    const response = issuer.token()
    response.headers.set('date', dateOf(Date.now()))
    return response
  })
  const revoked = new Set<string>()
  const sends: string[] = []
  const call = (given: SendOptions = {}, api = apiOf(tokens)): Promise<string> =>
    inTime(
      api.send(async (authorization) => {
        const token = authorization.replace('Bearer ', '')
        const now = Date.now() - behind
        const isEarly = now < (begins[Number(token.split('-')[1]) - 1] as number)
        sends.push(token)
        const head = { date: dateOf(now) } as Readonly<Record<string, string>>
        return answer(isEarly || revoked.has(token) ? 401 : 200, isEarly ? 'early' : token, {
          header: (name) => head[name] ?? null,
          ...says,
        })
      }, given),
    )
  return { ...service, revoked, sends, call }
}

const shown = { 'www-authenticate': 'Bearer error="invalid_token", error_description="jwt not active"' }
const onlySays = (challenge: string): Partial<Exchange<string>> => ({
  header: (name) => (name === 'www-authenticate' ? challenge : null),
})

test.each([
  ['its `Date` shows', 600, undefined],
  ['its `Date` shows, by a whole second', 1_000, undefined],
  ['its challenge says (jsonwebtoken)', 600, onlySays(shown['www-authenticate'])],
  [
    'ASP.NET Core says',
    600,
    onlySays(`Bearer error_description="The token is not valid before '11/21/2026'"`),
  ],
  ['Spring says', 600, onlySays('Bearer error_description="Jwt used before 2026-11-21T00:00:00Z"')],
  ['Go says', 600, onlySays('Bearer error_description="token is not valid yet"')],
  ['PyJWT says', 600, onlySays('Bearer error_description="The token is not yet valid (nbf)"')],
  ['jose says', 600, onlySays(String.raw`Bearer error_description="\"nbf\" claim timestamp check failed"`)],
  ['Google says', 600, onlySays('Bearer error_description="Token used too early, 1 < 2"')],
])(
  'the first call at an API whose clock is behind the issuer’s, as %s: the same token again, a second later',
  async (_, behind, says) => {
    const { call, sends, issuer, eventsOf } = await behindBy({ behind, ...(says && { says }) })
    const start = performance.now()
    expect(await call()).toBe('token-1')
    expect(performance.now() - start).toBe(second)
    expect(sends).toEqual(['token-1', 'token-1'])
    expect(issuer.count).toBe(1)
    expect(eventsOf('rejection.repeated')).toEqual([])
    expect(eventsOf('call.finished')).toMatchObject([{ resends: ['retried'], waited: { token: second } }])
  },
)

test('calls that are made at once wait for the same second, and none is lost', async () => {
  const { call, issuer } = await behindBy({ behind: 600 })
  const calls = Array.from({ length: 100 }, () => call())
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['token-1']))
  expect(issuer.count).toBe(1)
})

test('calls with a rate policy wait as well, and hold no slot meanwhile', async () => {
  const ratePolicy = { limits: [], concurrency: 1 }
  const { call, issuer, tokens } = await behindBy({
    behind: 600,
    options: { apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general', ratePolicy }] },
  })
  expect(await Promise.all([call(), call(), call()])).toEqual(['token-1', 'token-1', 'token-1'])
  expect(issuer.count).toBe(1)
  expect(tokens.status().apis[0]).toMatchObject({ running: 0, queued: 0 })
})

test.each([
  ['cannot be sent again', {}, { replayable: false }],
  ['may wait for less', { maxWait: 999 }, {}],
])('a call that %s gets its 401 at once, and asks for no newer token', async (_, settings, options) => {
  const { call, issuer, eventsOf } = await behindBy({ behind: 600, settings })
  expect(await call(options)).toBe('early')
  await pass(second)
  expect(await call(options)).toBe('token-1')
  expect(issuer.count).toBe(1)
  expect(eventsOf('rejection.repeated')).toMatchObject([{ clockBehind: true }])
  expect(eventsOf('rejection.ended')).toHaveLength(1)
})

test('an abort ends the wait at once', async () => {
  const { call } = await behindBy({ behind: 600 })
  const controller = new AbortController()
  setTimeout(() => controller.abort(new Error('given up')), 100)
  await expect(call({ signal: controller.signal })).rejects.toThrow('given up')
  expect(vi.getTimerCount()).toBe(0)
})

test('a clock that is 30 s behind loses what is called before, and gets no newer token, which would begin later', async () => {
  const { call, issuer, eventsOf, tokens } = await behindBy({ behind: 30 * second })
  const outcomes: string[] = []
  for (let at = 0; at < 60; at += 1) {
    outcomes.push(await call())
    await pass(second)
  }
  expect(outcomes.filter((outcome) => outcome === 'early').length).toBeLessThanOrEqual(30)
  expect(outcomes.at(-1)).toBe('token-1')
  expect(issuer.count).toBe(1)
  expect(eventsOf('rejection.repeated')).toEqual([
    {
      type: 'rejection.repeated',
      issuer: 'general',
      api: 'https://api.example.com/',
      option: 'apis[0].issuer',
      clockBehind: true,
    },
  ])
  expect(tokens.status().apis[0]).not.toHaveProperty('refusesTokens')
})

test.each([
  ['has expired (Keycloak)', 'Bearer error="invalid_token", error_description="Token is not active"'],
  ['has expired (jose)', String.raw`Bearer error_description="\"exp\" claim timestamp check failed"`],
  ['lacks a claim', 'Bearer error_description="missing nbf claim"'],
  ['was seen before', 'Bearer error_description="The token was used before"'],
  ['is not valid', 'Bearer error="invalid_token", error_description="The token is not valid"'],
])('a token that %s is renewed at once', async (_, challenge) => {
  const { tokens, issuer } = fakeService()
  const statuses = [401, 200]
  await apiOf(tokens).send(async () => answer(statuses.shift() as number, '', onlySays(challenge)))
  expect(issuer.count).toBe(2)
})

test('an API that says for a minute that a token is not valid yet gets a newer one', async () => {
  const { tokens, issuer } = fakeService()
  for (let at = 0; at <= 62; at += 2) {
    await inTime(apiOf(tokens).send(async () => answer(401, '', onlySays(shown['www-authenticate']))))
    expect(issuer.count).toBe(at < minute / second ? 1 : 2)
    await pass(second)
  }
})

test('a clock that is further behind than a minute explains nothing: the token is renewed as ever', async () => {
  const { call, issuer } = await behindBy({ behind: 2 * minute })
  expect(await call()).toBe('early')
  expect(issuer.count).toBe(2)
})

test('a token that is older than the clock is behind, and is revoked, is renewed at once', async () => {
  const { call, issuer, revoked } = await behindBy({ behind: 5 * second })
  await call()
  await pass(6 * second)
  revoked.add('token-1')
  revoked.add('token-2')
  expect(issuer.count).toBe(1)
  await call()
  expect(issuer.count).toBe(2)
})

test('a token that is revoked in its first second as well costs one call, and is renewed then', async () => {
  const { call, issuer, revoked } = await behindBy({ behind: 600 })
  revoked.add('token-1')
  expect(await call()).toBe('token-1')
  await pass(second)
  expect(await call()).toBe('token-2')
  expect(issuer.count).toBe(2)
})

test('a server of several whose clock is behind does not renew a token that the others accept', async () => {
  const { call, issuer, tokens } = await behindBy({ behind: 0 })
  expect(await call()).toBe('token-1')
  const header = (): string => dateOf(Date.now() - second)
  const statuses = [401, 200]
  const balanced = apiOf(tokens).send(async () => answer(statuses.shift() as number, 'balanced', { header }))
  await expect(inTime(balanced)).resolves.toBe('balanced')
  expect(statuses).toEqual([])
  expect(issuer.count).toBe(1)
})

test('a renewal ahead of expiry goes back to the old token, which begins in the past', async () => {
  const { call, issuer, sends, tokens } = await behindBy({
    behind: 600,
    settings: { renewBefore: 20 * minute },
  })
  await call()
  await pass(40 * minute)
  await tokens.getToken('general')
  await pass(0)
  sends.length = 0
  expect(await call()).toBe('token-1')
  expect(sends).toEqual(['token-2', 'token-1'])
  expect(issuer.count).toBe(2)
})

test('processes that share the token by a store know when it was issued, too', async () => {
  const store = sharedStore(new MemoryStore())
  const one = await behindBy({ behind: 600, options: { store } })
  const other = fakeService({}, { store, fetch: one.issuer.fetch })
  // one after the other, and no time passes: what is encrypted takes real time
  for (const { tokens } of [one, other]) await tokens.getToken('general')
  await expect(one.call({}, apiOf(other.tokens))).resolves.toBe('token-1')
  expect(one.issuer.count).toBe(1)
})

test('several APIs of an issuer: the one whose clock is right is not held back', async () => {
  const { call, issuer, tokens } = await behindBy({
    behind: 600,
    options: {
      apis: ['https://api.example.com/', 'https://api.example.org/'].map((baseUrl) => ({
        baseUrl,
        issuer: 'general',
      })),
    },
  })
  const waiting = call()
  const right = tokens.route('https://api.example.org/') as Api
  await expect(right.send(async () => answer(200, 'right'))).resolves.toBe('right')
  await expect(waiting).resolves.toBe('token-1')
  expect(issuer.count).toBe(1)
})
