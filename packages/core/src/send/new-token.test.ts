import { expect, test } from 'vitest'
import { fakeTime, hour, minute, pass, second } from '../../test/fake-time.ts'
import { answer, apiOf, inTime } from '../../test/one-api.ts'
import { fakeService, type FakeService } from '../../test/fake-issuer.ts'
import type { Api, ApiOptions } from '../index.ts'
import type { Exchange, SendOptions } from '../adapter.ts'

fakeTime()

interface Service extends FakeService {
  /** What every attempt was sent with. */
  readonly sent: string[]
  /** The tokens that the API takes now. */
  readonly known: Set<string>
  call(options?: SendOptions, api?: Api): Promise<number>
}

/** A service whose API has accepted `token-1`, and whose `token-2` has just been obtained ahead of expiry. */
async function renewedAhead(
  more: Partial<ApiOptions> = {},
  others: readonly ApiOptions[] = [],
): Promise<Service> {
  const apis = [{ baseUrl: 'https://api.example.com/', issuer: 'general', ...more }, ...others]
  const service = fakeService({ renewBefore: 20 * minute }, { apis })
  const sent: string[] = []
  const known = new Set(['token-1'])
  const attempt = async (authorization: string): Promise<Exchange<number>> => {
    const token = authorization.replace('Bearer ', '')
    sent.push(token)
    const status = known.has(token) ? 200 : 401
    return answer(status, status)
  }
  const call = (options?: SendOptions, api = apiOf(service.tokens)): Promise<number> =>
    inTime(api.send(attempt, options))
  expect(await call()).toBe(200)
  await pass(hour - 20 * minute)
  await service.tokens.getToken('general')
  await pass(0)
  expect((await service.tokens.getToken('general')).value).toBe('token-2')
  sent.length = 0
  return { ...service, sent, known, call }
}

test('a new token that the API does not know yet: the one retry goes with the old token', async () => {
  const { call, sent, issuer, eventsOf } = await renewedAhead()
  expect(await call()).toBe(200)
  expect(sent).toEqual(['token-2', 'token-1'])
  expect(issuer.count).toBe(2)
  expect(eventsOf('token.rejected')).toEqual([])
  expect(eventsOf('call.finished').at(-1)).toMatchObject({ resends: ['retried'], sends: 2 })
})

test('the API gets the old token for 1 s, then the new one is tried, and the old one for twice as long each time', async () => {
  const { call, sent } = await renewedAhead()
  const tried: number[] = []
  for (let at = 0; at < 130; at += 0.5) {
    sent.length = 0
    expect(await call()).toBe(200)
    if (sent[0] === 'token-2') tried.push(at)
    await pass(second / 2)
  }
  // at most a minute
  expect(tried).toEqual([0, 1, 3, 7, 15, 31, 63, 123])
})

test('once the API knows the new token, it gets that alone', async () => {
  const { call, sent, known, issuer } = await renewedAhead()
  await call()
  known.add('token-2')
  await pass(second)
  for (let calls = 0; calls < 10; calls += 1) {
    expect(await call()).toBe(200)
    await pass(10 * second)
  }
  expect(new Set(sent.slice(2))).toEqual(new Set(['token-2']))
  expect(issuer.count).toBe(2)
})

test('50 calls at once with a token that is not known yet lose none, and begin one wait', async () => {
  const { call, sent, issuer } = await renewedAhead()
  const statuses = await Promise.all(Array.from({ length: 50 }, () => call()))
  expect(new Set(statuses)).toEqual(new Set([200]))
  await pass(second)
  sent.length = 0
  expect(await call()).toBe(200)
  expect(sent).toEqual(['token-2', 'token-1'])
  expect(issuer.count).toBe(2)
})

test('a replica that lags behind one that has accepted the new token costs no call within a minute', async () => {
  const { call, sent, known, issuer } = await renewedAhead()
  for (let calls = 0; calls < 100; calls += 1) {
    // every other call comes to it
    if (calls % 2 === 0) known.add('token-2')
    else known.delete('token-2')
    expect(await call()).toBe(200)
    await pass(second / 5)
  }
  expect(issuer.count).toBe(2)
  expect(sent.length).toBeLessThan(110)
})

test('a new token that was accepted for a minute is renewed after a 401, though the old one lives', async () => {
  const { call, sent, known, issuer } = await renewedAhead()
  known.add('token-2')
  expect(await call()).toBe(200)
  await pass(minute)
  known.clear()
  known.add('token-3')
  sent.length = 0
  expect(await call()).toBe(200)
  expect(sent).toEqual(['token-2', 'token-3'])
  expect(issuer.count).toBe(3)
})

test('an old token that is refused as well is dropped for good: the next calls renew as ever', async () => {
  const { call, sent, known, issuer } = await renewedAhead()
  known.clear()
  known.add('token-3')
  expect(await call()).toBe(401)
  expect(sent).toEqual(['token-2', 'token-1'])
  expect(await call()).toBe(200)
  expect(await call()).toBe(200)
  expect(sent.slice(2)).toEqual(['token-3', 'token-3'])
  expect(issuer.count).toBe(3)
})

test('an issuer that revokes the old token when it issues a new one is not asked for it again', async () => {
  const { call, sent, known, tokens } = await renewedAhead()
  known.clear()
  known.add('token-3')
  await call()
  await call()
  known.clear()
  known.add('token-5')
  await pass(hour - 10 * minute)
  await tokens.getToken('general')
  await pass(0)
  sent.length = 0
  expect(await call()).toBe(200)
  expect(sent).toEqual(['token-4', 'token-5'])
})

test('an old token that is revoked while the API gets it: the call that finds out renews, and is not lost', async () => {
  const { call, sent, known } = await renewedAhead()
  await call()
  known.clear()
  known.add('token-3')
  sent.length = 0
  expect(await call()).toBe(200)
  expect(sent).toEqual(['token-1', 'token-3'])
})

test('an old token that is too old is not sent: the new one is judged as ever', async () => {
  const { call, sent, known, issuer } = await renewedAhead()
  await call()
  await pass(20 * minute - 11 * second)
  expect(await call()).toBe(200)
  await pass(second)
  known.add('token-3')
  sent.length = 0
  expect(await call()).toBe(200)
  expect(sent).toEqual(['token-2', 'token-3'])
  expect(issuer.count).toBe(3)
})

test('other APIs of the issuer judge for themselves', async () => {
  const other = { baseUrl: 'https://api.example.org/', issuer: 'general' }
  const { call, sent, known, tokens } = await renewedAhead({}, [other])
  await call()
  sent.length = 0
  known.add('token-2')
  const api = tokens.route(other.baseUrl) as Api
  expect(await call({}, api)).toBe(200)
  expect(await call()).toBe(200)
  expect(sent).toEqual(['token-2', 'token-1'])
})

test('an API that refuses every token does not take the old one from an API that needs it', async () => {
  const other = { baseUrl: 'https://api.example.org/', issuer: 'general' }
  const { call, sent, tokens } = await renewedAhead({}, [other])
  await call()
  const refusing = tokens.route(other.baseUrl) as Api
  const refuse = (): Promise<number> => inTime(refusing.send(async () => answer(401, 401)))
  for (let calls = 0; calls < 30; calls += 1) {
    await refuse()
    expect(await call()).toBe(200)
    await pass(second)
  }
  expect(sent.at(-1)).toBe('token-1')
})

test('a call that cannot be sent again gets its 401, and the next one goes with the old token', async () => {
  const { call, sent } = await renewedAhead()
  const once = { replayable: false }
  expect(await call(once)).toBe(401)
  expect(await call(once)).toBe(200)
  expect(sent).toEqual(['token-2', 'token-1'])
})

test('calls of an API with a rate policy get the old token from their queue', async () => {
  const { call, sent, tokens } = await renewedAhead({
    ratePolicy: { limits: [{ quota: 1, window: 100 }], concurrency: 1 },
  })
  const statuses = await Promise.all([call(), call(), call()])
  expect(statuses).toEqual([200, 200, 200])
  expect(sent).toEqual(['token-2', 'token-1', 'token-1', 'token-1'])
  expect(tokens.status().apis[0]).toMatchObject({ running: 0, queued: 0 })
})

test('a renewal that returns the same token again leaves no old one to go back to', async () => {
  const { issuer, tokens } = fakeService({ renewBefore: 20 * minute })
  const same = (): Response =>
    Response.json({ access_token: 'same', token_type: 'Bearer', expires_in: 3_600 })
  issuer.respondOnceWith(same).respondOnceWith(same)
  const sent: string[] = []
  const call = (): Promise<number> =>
    inTime(
      apiOf(tokens).send(async (authorization) => {
        sent.push(authorization)
        const status = authorization === 'Bearer same' && sent.length > 1 ? 401 : 200
        return answer(status, status)
      }),
    )
  await call()
  await pass(hour - 20 * minute)
  await tokens.getToken('general')
  await pass(0)
  expect(await call()).toBe(200)
  expect(sent).toEqual(['Bearer same', 'Bearer same', 'Bearer token-1'])
})
