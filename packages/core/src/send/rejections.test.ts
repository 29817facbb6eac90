import { expect, test, vi } from 'vitest'
import { fakeTime } from '../../test/fake-time.ts'
import { answer, apiOf, inTime } from '../../test/one-api.ts'
import { fakeService, type FakeService } from '../../test/fake-issuer.ts'
import { Random } from '../../../../tools/testing/src/random.ts'
import type { Api, IssuerSettings } from '../index.ts'
import type { Exchange, SendOptions } from '../adapter.ts'

fakeTime()

test.each([
  ['without a challenge', {}],
  ['with a challenge of another scheme', { wwwAuthenticate: 'Basic realm="api"' }],
])(
  'an API that refuses everything, %s, gets 1,000 calls of a minute for six token requests',
  async (_, report) => {
    const { tokens, issuer } = fakeService()
    const calls: Promise<number>[] = []
    for (let call = 0; call < 1_000; call += 1) {
      let sends = 0
      const attempt = async (): Promise<Exchange<number>> => ({ ...answer(401, (sends += 1)), ...report })
      calls.push(apiOf(tokens).send(attempt))
      await vi.advanceTimersByTimeAsync(60)
    }
    await vi.advanceTimersByTimeAsync(2_000)
    const sends = await Promise.all(calls)
    expect(Math.max(...sends)).toBe(2)
    expect(sends.filter((count) => count === 1).length).toBeGreaterThan(800)
    expect(issuer.count).toBeGreaterThanOrEqual(4)
    expect(issuer.count).toBeLessThanOrEqual(6)
  },
)

test('an API that refuses new tokens too is reported: at once, and with each forced renewal', async () => {
  const apis = [
    { baseUrl: 'https://other.example.com/', issuer: 'general' },
    { baseUrl: 'https://api.example.com/', issuer: 'general' },
  ]
  const { tokens, eventsOf } = fakeService({}, { apis })
  const refuse = (): Promise<void> => inTime(apiOf(tokens).send(async () => answer(401, undefined)))
  await refuse()
  const repeated = {
    type: 'rejection.repeated',
    issuer: 'general',
    api: 'https://api.example.com/',
    option: 'apis[1].issuer',
  }
  expect(eventsOf('rejection.repeated')).toEqual([repeated])
  for (let second = 0; second < 600; second += 1) {
    await refuse()
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect(eventsOf('rejection.repeated')).toHaveLength(eventsOf('token.rejected').length)
})

test('the status says that an API refuses new tokens, from the report until it accepts one', async () => {
  const { tokens, eventsOf } = fakeService()
  const refused: unknown[] = []
  const send = async (...statuses: number[]): Promise<void> => {
    await inTime(apiOf(tokens).send(async () => answer(statuses.shift() ?? 200, undefined)))
    refused.push(tokens.status().apis[0]?.refusesTokens)
  }
  await send(401, 200)
  await vi.advanceTimersByTimeAsync(60_000)
  await send(401, 401, 401)
  // with a renewal in between
  await vi.advanceTimersByTimeAsync(60_000)
  await send(401, 500)
  expect(eventsOf('rejection.ended')).toEqual([])
  await send(200)
  await send(200)
  expect(refused).toEqual([undefined, true, true, undefined, undefined])
  const { baseUrl: api } = apiOf(tokens)
  expect(eventsOf('rejection.ended')).toEqual([{ type: 'rejection.ended', issuer: 'general', api }])
})

test('an API that refuses a new token of a call that cannot be sent again is reported with the next call', async () => {
  const { tokens, eventsOf } = fakeService()
  const refuse = (): Promise<void> =>
    apiOf(tokens).send(async () => answer(401, undefined), { replayable: false })
  await refuse()
  expect(eventsOf('rejection.repeated')).toEqual([])
  await refuse()
  expect(eventsOf('rejection.repeated')).toHaveLength(1)
})

test('an API that accepts the new token is not reported, also if it refuses it later', async () => {
  const { tokens, eventsOf } = fakeService()
  const send = (...statuses: number[]): Promise<void> =>
    apiOf(tokens).send(async () => answer(statuses.shift() ?? 200, undefined))
  await send(401, 200)
  await vi.advanceTimersByTimeAsync(60_000)
  await send(401, 200)
  expect(eventsOf('token.rejected')).toHaveLength(2)
  expect(eventsOf('rejection.repeated')).toEqual([])
})

test('renewals that a refusing API forces are 2 s apart at least, then twice as far, up to a minute', async () => {
  const rejectedAt: number[] = []
  const { tokens } = fakeService(
    {},
    { observe: ({ type }) => void (type === 'token.rejected' && rejectedAt.push(performance.now())) },
  )
  for (let second = 0; second < 6_000; second += 1) {
    const call = apiOf(tokens).send(async () => answer(401, undefined))
    await vi.advanceTimersByTimeAsync(100)
    await inTime(call)
  }
  const gaps = rejectedAt.slice(1).map((at, index) => at - (rejectedAt[index] as number))
  expect(gaps.length).toBeGreaterThan(8)
  for (const [index, gap] of gaps.entries()) {
    expect(gap).toBeGreaterThanOrEqual(Math.min(60_000, 2_000 * 2 ** index))
    expect(gap).toBeLessThanOrEqual(Math.min(60_000, 3_000 * 3 ** index) + 1_100)
  }
})

test('a token that was renewed and accepted may be revoked at once: its call waits for the next second', async () => {
  const { tokens, issuer } = fakeService()
  const revoked = new Set(['Bearer token-1', 'Bearer token-2'])
  const attempt = async (authorization: string): Promise<Exchange<number>> =>
    answer(revoked.has(authorization) ? 401 : 200, revoked.has(authorization) ? 401 : 200)
  revoked.delete('Bearer token-2')
  await expect(apiOf(tokens).send(attempt)).resolves.toBe(200)
  revoked.add('Bearer token-2')
  const call = apiOf(tokens).send(attempt)
  await vi.advanceTimersByTimeAsync(999)
  expect(issuer.count).toBe(2)
  await vi.advanceTimersByTimeAsync(1)
  await expect(call).resolves.toBe(200)
  expect(issuer.count).toBe(3)
})

test('a call that gives up while it waits for a renewal that is put off holds nothing more', async () => {
  const ratePolicy = { limits: [], concurrency: 1 }
  const { tokens, eventsOf } = fakeService(
    {},
    { apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general', ratePolicy }] },
  )
  // for clients that make the attempts themselves: a renewal that brings an accepted token, which is refused at once
  await apiOf(tokens).send(async (token) => answer(token === 'Bearer token-1' ? 401 : 200, undefined))
  const controller = new AbortController()
  const pass = await apiOf(tokens).admit({ signal: controller.signal })
  expect(pass.report({ status: 401 })).toBe('again')
  const next = pass.next()
  await vi.advanceTimersByTimeAsync(100)
  controller.abort(new Error('given up'))
  await expect(next).rejects.toThrow('given up')
  expect(vi.getTimerCount()).toBe(0)
  expect(tokens.status().apis[0]).toMatchObject({ running: 0, queued: 0 })
  expect(eventsOf('call.finished').at(-1)).toMatchObject({ code: 'Error', sends: 1 })
  await tokens.close()
})

test('one endpoint that always answers 401, beside good ones, costs two token requests and no further token', async () => {
  const { tokens, issuer } = fakeService()
  for (let call = 0; call < 1_000; call += 1) {
    await inTime(apiOf(tokens).send(async () => answer(call % 2 === 0 ? 401 : 200, undefined)))
    await vi.advanceTimersByTimeAsync(10)
  }
  expect(issuer.count).toBeLessThanOrEqual(3)
})

test('300 calls, every other answer a 401: none is lost, for three token requests', async () => {
  const { tokens, issuer } = fakeService()
  let answers = 0
  const statuses = new Set<number>()
  for (let call = 0; call < 300; call += 1) {
    const status = (): number => ((answers += 1) % 2 === 0 ? 401 : 200)
    const attempt = async (): Promise<Exchange<number>> => {
      const given = status()
      return answer(given, given)
    }
    statuses.add(await inTime(apiOf(tokens).send(attempt)))
    await vi.advanceTimersByTimeAsync(5)
  }
  expect(statuses).toEqual(new Set([200]))
  expect(issuer.count).toBeLessThanOrEqual(3)
})

test.each([10, 100, 1_000, 3_000])(
  'random 401s, a call every %d ms: a token request a second at most',
  async (every) => {
    const rejectedAt: number[] = []
    const { tokens } = fakeService(
      {},
      { observe: ({ type }) => void (type === 'token.rejected' && rejectedAt.push(performance.now())) },
    )
    for (let call = 0; call < 2_000; call += 1) {
      await inTime(apiOf(tokens).send(async () => answer(Math.random() < 0.3 ? 401 : 200, undefined)))
      await vi.advanceTimersByTimeAsync(every)
    }
    for (const [index, at] of rejectedAt.slice(1).entries())
      expect(at - (rejectedAt[index] as number)).toBeGreaterThanOrEqual(1_000)
  },
)

test('4 callers for 10 s at an API whose every other answer is a 401: nine token requests at most', async () => {
  const { tokens, issuer } = fakeService()
  let answers = 0
  const caller = async (): Promise<void> => {
    for (let call = 0; call < 500; call += 1)
      await apiOf(tokens).send(async () => {
        await new Promise((resolve) => setTimeout(resolve, 15 + Math.random() * 10))
        return answer((answers += 1) % 2 === 0 ? 401 : 200, undefined)
      })
  }
  const callers = Promise.all([caller(), caller(), caller(), caller()])
  await vi.advanceTimersByTimeAsync(10_000)
  expect(issuer.count).toBeLessThanOrEqual(9)
  await vi.advanceTimersByTimeAsync(60_000)
  await callers
})

test('a token that is revoked while another endpoint refuses every token is renewed after a second', async () => {
  const { tokens, issuer } = fakeService()
  let revoked = ''
  const call = (url: 'good' | 'refusing'): Promise<number> =>
    inTime(
      apiOf(tokens).send(async (authorization) => {
        const status = url === 'refusing' || authorization === revoked ? 401 : 200
        return answer(status, status)
      }),
    )
  for (let times = 0; times < 3; times += 1) for (const url of ['refusing', 'good'] as const) await call(url)
  const before = issuer.count
  revoked = `Bearer token-${before}`
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await call('good')).toBe(401)
  await vi.advanceTimersByTimeAsync(999)
  expect(await call('good')).toBe(401)
  expect(issuer.count).toBe(before)
  await vi.advanceTimersByTimeAsync(1)
  expect(await call('good')).toBe(200)
  expect(issuer.count).toBe(before + 1)
})

test.each([
  ['that may be sent again: it is believed after a second', {}, 100],
  ['that may not be: the token is renewed after a second', { replayable: false }, 101],
])('a revocation at an API that refuses good tokens, with calls %s', async (_, options, lost) => {
  const { tokens, issuer } = fakeService()
  let revoked = ''
  let refusesNext = false
  const call = (given?: SendOptions): Promise<number> =>
    apiOf(tokens).send(async (authorization) => {
      const status = refusesNext || authorization === revoked ? 401 : 200
      refusesNext = false
      return answer(status, status)
    }, given)
  // the second refusal waits for a renewal, the third one does not: the same token is accepted after it
  for (let refusal = 0; refusal < 3; refusal += 1) {
    refusesNext = true
    await expect(inTime(call())).resolves.toBe(200)
  }
  revoked = 'Bearer token-3'
  const inFlight = Array.from({ length: 100 }, () => call(options))
  await vi.advanceTimersByTimeAsync(1_000)
  const later = inTime(call(options))
  const statuses = [...(await Promise.all(inFlight)), await later, await inTime(call(options))]
  expect(statuses.filter((status) => status === 401)).toHaveLength(lost)
  expect(issuer.count).toBe(4)
})

test('a token that is revoked every second loses no call', async () => {
  const rejectedAt: number[] = []
  const { tokens, issuer } = fakeService(
    {},
    { observe: ({ type }) => void (type === 'token.rejected' && rejectedAt.push(performance.now())) },
  )
  const revoked = new Set<string>()
  const call = (): Promise<number> =>
    inTime(
      apiOf(tokens).send(async (authorization) => {
        const status = revoked.has(authorization) ? 401 : 200
        return answer(status, status)
      }),
    )
  await call()
  const start = performance.now()
  for (let token = 1; token <= 20; token += 1) {
    revoked.add(`Bearer token-${token}`)
    expect(await call()).toBe(200)
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect(rejectedAt.map((at) => at - start)).toEqual(Array.from({ length: 20 }, (_, at) => at * 1_000))
  expect(issuer.count).toBe(21)
})

test('a new token that the API knows only after a second loses the one call that asked for it', async () => {
  const { tokens, issuer } = fakeService()
  let knownAt = performance.now() + 1_000
  issuer.respondWith(() => {
    knownAt = performance.now() + 1_000
    return issuer.token()
  })
  const calls = []
  for (let call = 0; call < 40; call += 1) {
    const attempt = async (): Promise<Exchange<number>> => {
      const status = performance.now() < knownAt ? 401 : 200
      return answer(status, status)
    }
    calls.push(apiOf(tokens).send(attempt))
    await vi.advanceTimersByTimeAsync(50)
  }
  const statuses = await inTime(Promise.all(calls))
  expect(statuses.filter((status) => status === 401)).toHaveLength(1)
  expect(issuer.count).toBe(2)
})

test('an API that accepts tokens does not end the doubt about renewals that another one forces', async () => {
  const apis = ['https://api.example.com/', 'https://api.example.org/'].map((baseUrl) => ({
    baseUrl,
    issuer: 'general',
  }))
  const { tokens, eventsOf } = fakeService({}, { apis })
  const good = tokens.route('https://api.example.org/') as Api
  for (let call = 0; call < 600; call += 1) {
    const refused = apiOf(tokens).send(async () => answer(401, 401))
    await good.send(async () => answer(200, 200))
    await vi.advanceTimersByTimeAsync(100)
    await inTime(refused)
  }
  expect(eventsOf('token.rejected').length).toBeLessThanOrEqual(6)
})

test('servers of an API that learn of a new token within 6 s: sequential calls cause no storm of renewals', async () => {
  const renewals: number[] = []
  const refused: number[] = []
  for (let seed = 1; seed <= 15; seed += 1) {
    vi.spyOn(Math, 'random').mockImplementation(new Random(seed).next)
    const { tokens, issuer } = fakeService()
    const issuedAt: number[] = []
    issuer.respondWith(() => {
      issuedAt.push(performance.now())
      return issuer.token()
    })
    const statuses: number[] = []
    for (let call = 0; call < 600; call += 1) {
      const attempt = async (authorization: string): Promise<Exchange<number>> => {
        const age = performance.now() - (issuedAt[Number(authorization.split('-')[1]) - 1] as number)
        const status = age >= 2_000 * Math.floor(Math.random() * 4) ? 200 : 401
        return answer(status, status)
      }
      statuses.push(await inTime(apiOf(tokens).send(attempt)))
      await vi.advanceTimersByTimeAsync(100)
    }
    renewals.push(issuer.count)
    refused.push(statuses.filter((status) => status === 401).length)
  }
  const median = (counts: readonly number[]): number => counts.toSorted((a, b) => a - b)[7] as number
  expect(median(renewals)).toBeLessThan(20)
  expect(median(refused)).toBeLessThan(60)
})

test('a body that can be read once is not sent again with the same token either', async () => {
  const { tokens } = fakeService()
  let sends = 0
  const send = (...statuses: number[]): Promise<number> =>
    apiOf(tokens).send(
      async () => {
        sends += 1
        const status = statuses.shift() ?? 200
        return answer(status, status)
      },
      { replayable: false },
    )
  expect([await send(401), await send(200), await send(401), await send(200)]).toEqual([401, 200, 401, 200])
  expect(sends).toBe(4)
})

/** A service whose token was renewed after a 401, accepted, and is revoked again in the same moment. */
async function revokedTwice(settings?: Partial<IssuerSettings>): Promise<{
  service: FakeService
  revoked: Set<string>
  call: (options?: SendOptions) => Promise<string>
}> {
  const service = fakeService(settings)
  const revoked = new Set(['Bearer token-1'])
  const call = (options?: SendOptions): Promise<string> =>
    apiOf(service.tokens).send(
      async (authorization) => answer(revoked.has(authorization) ? 401 : 200, authorization),
      options,
    )
  await expect(call()).resolves.toBe('Bearer token-2')
  revoked.add('Bearer token-2')
  return { service, revoked, call }
}

test('1,000 calls with a token that is revoked again within the second wait for one renewal, and none is lost', async () => {
  const { service, call } = await revokedTwice()
  const calls = Array.from({ length: 1_000 }, () => call())
  await vi.advanceTimersByTimeAsync(1_000)
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['Bearer token-3']))
  expect(service.issuer.count).toBe(3)
  expect(service.eventsOf('token.rejected')).toHaveLength(2)
  expect(vi.getTimerCount()).toBe(0)
})

test('a refused token that the API accepts while a call waits is not renewed: the call goes again with it', async () => {
  const { service, revoked, call } = await revokedTwice()
  const waiting = call()
  await vi.advanceTimersByTimeAsync(500)
  // one node of two had not heard of it yet
  revoked.delete('Bearer token-2')
  await expect(call()).resolves.toBe('Bearer token-2')
  await vi.advanceTimersByTimeAsync(500)
  await expect(waiting).resolves.toBe('Bearer token-2')
  expect(service.issuer.count).toBe(2)
})

test('a token that is revoked within a second again and again: every other time, one call finds out and is lost', async () => {
  const { service, revoked, call } = await revokedTwice()
  const got: string[] = []
  for (let time = 0; time < 6; time += 1) {
    const calls = await inTime(Promise.all([call(), call(), call()]))
    got.push(calls.map((token) => (revoked.has(token) ? 'lost' : 'ok')).join(' '))
    revoked.add(`Bearer token-${service.issuer.count}`)
  }
  expect(got).toEqual(['ok ok ok', 'lost ok ok', 'ok ok ok', 'lost ok ok', 'ok ok ok', 'lost ok ok'])
})

test('an abort ends the wait for a renewal at once, and leaves no timer', async () => {
  const { service, call } = await revokedTwice()
  const controller = new AbortController()
  const reason = new Error('aborted')
  const waiting = call({ signal: controller.signal })
  await vi.advanceTimersByTimeAsync(500)
  controller.abort(reason)
  await expect(waiting).rejects.toBe(reason)
  expect(vi.getTimerCount()).toBe(0)
  await service.tokens.close()
})

test('a call whose 401 is final does not wait: one that cannot be sent again, or that its `maxWait` ends before', async () => {
  const once = await revokedTwice()
  await expect(once.call({ replayable: false })).resolves.toBe('Bearer token-2')
  const impatient = await revokedTwice({ maxWait: 999 })
  await expect(impatient.call()).resolves.toBe('Bearer token-2')
})

test('what a call waited for its renewal is reported as the wait for its token', async () => {
  const { service, call } = await revokedTwice()
  await inTime(call())
  expect(service.eventsOf('call.finished').at(-1)).toMatchObject({
    waited: { token: 1_000 },
    resends: ['rejected'],
    sends: 2,
  })
})

test('two APIs of one issuer force one renewal a second together', async () => {
  const { tokens, issuer } = fakeService(
    {},
    {
      apis: [
        { baseUrl: 'https://api.example.com/', issuer: 'general' },
        { baseUrl: 'https://api.example.org/', issuer: 'general' },
      ],
    },
  )
  const revoked = new Set<string>()
  const call = (api: Api): Promise<string> =>
    api.send(async (authorization) => answer(revoked.has(authorization) ? 401 : 200, authorization))
  const [one, other] = [apiOf(tokens), tokens.route('https://api.example.org/') as Api]
  await call(one)
  revoked.add('Bearer token-1')
  await expect(call(one)).resolves.toBe('Bearer token-2')
  revoked.add('Bearer token-2')
  const waiting = call(other)
  await vi.advanceTimersByTimeAsync(999)
  expect(issuer.count).toBe(2)
  await vi.advanceTimersByTimeAsync(1)
  await expect(waiting).resolves.toBe('Bearer token-3')
})

test('a refused call that aborts before its repeat does not hold back the renewal that the next revocation needs', async () => {
  const { tokens, issuer } = fakeService()
  const revoked = new Set(['Bearer token-1'])
  const attempt = async (authorization: string): Promise<Exchange<number>> =>
    answer(revoked.has(authorization) ? 401 : 200, revoked.has(authorization) ? 401 : 200)
  const controller = new AbortController()
  const aborted = apiOf(tokens).send(
    async (authorization) => {
      const refused = await attempt(authorization)
      controller.abort()
      return refused
    },
    { signal: controller.signal },
  )
  await expect(aborted).rejects.toMatchObject({ name: 'AbortError' })
  await expect(apiOf(tokens).send(attempt)).resolves.toBe(200)
  await vi.advanceTimersByTimeAsync(1_000)
  revoked.add('Bearer token-2')
  await expect(inTime(apiOf(tokens).send(attempt))).resolves.toBe(200)
  expect(issuer.count).toBe(3)
})

/** Two processes whose issuer keeps one live token; each makes 20 calls a second. */
async function takeTurns(seconds: number): Promise<FakeService[]> {
  const one = fakeService()
  const other = fakeService({}, { fetch: one.issuer.fetch })
  const attempt = async (authorization: string): Promise<Exchange<number>> => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    const status = authorization === `Bearer token-${one.issuer.count}` ? 200 : 401
    return answer(status, status)
  }
  for (let call = 0; call < 20 * seconds; call += 1) {
    for (const { tokens } of [one, other]) {
      void apiOf(tokens).send(attempt)
      await vi.advanceTimersByTimeAsync(50 * Math.random())
    }
  }
  await vi.advanceTimersByTimeAsync(5_000)
  return [one, other]
}

test('processes that take each other’s token away are reported by one of them or both, once, and in its status', async () => {
  vi.spyOn(Math, 'random').mockImplementation(new Random(1).next)
  const processes = await takeTurns(20)
  const reporting = processes.filter(({ eventsOf }) => eventsOf('token.contested').length > 0)
  expect(reporting).not.toEqual([])
  for (const { tokens, eventsOf } of reporting) {
    expect(eventsOf('token.contested')).toEqual([
      { type: 'token.contested', issuer: 'general', api: 'https://api.example.com/' },
    ])
    expect(tokens.status().issuers['general']).toMatchObject({ contested: true })
  }
  await vi.advanceTimersByTimeAsync(60_000)
  for (const { tokens } of processes)
    expect(tokens.status().issuers['general']).not.toHaveProperty('contested')
})

test('an API that refuses at random, or every token, is not taken for other processes', async () => {
  vi.spyOn(Math, 'random').mockImplementation(new Random(226).next)
  const random = fakeService()
  const constant = fakeService()
  for (let call = 0; call < 1_000; call += 1) {
    const refused = apiOf(constant.tokens).send(async () => answer(401, 401))
    await inTime(apiOf(random.tokens).send(async () => answer(Math.random() < 0.3 ? 401 : 200, undefined)))
    await vi.advanceTimersByTimeAsync(50)
    await inTime(refused)
  }
  expect([...random.eventsOf('token.contested'), ...constant.eventsOf('token.contested')]).toEqual([])
})
