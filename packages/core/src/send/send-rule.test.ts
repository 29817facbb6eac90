import { expect, test, vi } from 'vitest'
import { fakeTime } from '../../test/fake-time.ts'
import { fakeService, type FakeService, refusal, unavailable } from '../../test/fake-issuer.ts'
import type { Api, IssuerSettings, TokenManager } from '../index.ts'
import type { Exchange, SendOptions } from '../adapter.ts'

fakeTime()

const apiOf = (tokens: TokenManager): Api => {
  const api = tokens.route('https://api.example.com/records')
  if (api === undefined) throw new Error('no API')
  return api
}

const answer = <T>(status: number, result: T, more: Partial<Exchange<T>> = {}): Exchange<T> => ({
  status,
  result,
  discard() {},
  ...more,
})

/** Lets time pass for as long as the call waits for something. */
async function inTime<T>(call: Promise<T>): Promise<T> {
  await vi.advanceTimersByTimeAsync(0)
  while (vi.getTimerCount() > 0) await vi.advanceTimersToNextTimerAsync()
  return call
}

test('a call is sent once with the live token', async () => {
  const { tokens, issuer } = fakeService()
  const sent: string[] = []
  const attempt = async (authorization: string): Promise<Exchange<string>> => {
    sent.push(authorization)
    return answer(200, 'ok')
  }
  await expect(apiOf(tokens).send(attempt)).resolves.toBe('ok')
  await apiOf(tokens).send(attempt)
  expect(sent).toEqual(['Bearer token-1', 'Bearer token-1'])
  expect(issuer.count).toBe(1)
})

test('a 401 costs one renewal and one more send, and the refused answer is discarded first', async () => {
  const { tokens, issuer, eventsOf } = fakeService()
  const order: string[] = []
  const result = await apiOf(tokens).send(async (authorization) => {
    order.push(authorization)
    const status = authorization === 'Bearer token-1' ? 401 : 200
    return answer(status, status, { discard: () => order.push('discarded') })
  })
  expect(result).toBe(200)
  expect(order).toEqual(['Bearer token-1', 'discarded', 'Bearer token-2'])
  expect(issuer.count).toBe(2)
  expect(eventsOf('token.rejected')).toEqual([
    { type: 'token.rejected', issuer: 'general', api: 'https://api.example.com/' },
  ])
  expect(eventsOf('token.renewed').map(({ reason }) => reason)).toEqual(['startup', 'rejected'])
})

test('an answer that cannot be discarded does not lose the call', async () => {
  const { tokens } = fakeService()
  let sends = 0
  const result = await apiOf(tokens).send(async () => {
    sends += 1
    return answer(sends === 1 ? 401 : 200, sends, {
      discard: () => Promise.reject(new Error('socket closed')),
    })
  })
  expect(result).toBe(2)
})

test('a second 401 is the caller\u2019s', async () => {
  const { tokens, issuer } = fakeService()
  let sends = 0
  const result = await apiOf(tokens).send(async () => {
    sends += 1
    return answer(401, `answer ${sends}`)
  })
  expect(result).toBe('answer 2')
  expect(issuer.count).toBe(2)
})

test('1,000 calls in flight when the token is revoked cost one renewal, and none is lost', async () => {
  const { tokens, issuer } = fakeService()
  await tokens.warmUp()
  let sends = 0
  const calls = Array.from({ length: 1_000 }, (_, index) =>
    apiOf(tokens).send(async (authorization) => {
      sends += 1
      await new Promise((resolve) => setTimeout(resolve, 5 + (index % 100)))
      return answer(authorization === 'Bearer token-1' ? 401 : 200, authorization)
    }),
  )
  issuer.respondOnceWith(() => issuer.token())
  const results = Promise.all(calls)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(new Set(await results)).toEqual(new Set(['Bearer token-2']))
  expect(issuer.count).toBe(2)
  expect(sends).toBe(2_000)
})

test('50 calls that get their 401 one after the other cost one renewal, however long that takes', async () => {
  const { tokens, issuer } = fakeService()
  await tokens.warmUp()
  const sent: string[] = []
  const calls = Array.from({ length: 50 }, (_, index) =>
    apiOf(tokens).send(async (authorization) => {
      sent.push(authorization)
      if (authorization === 'Bearer token-1')
        await new Promise((resolve) => setTimeout(resolve, 5 + (index * 108) / 49))
      return answer(authorization === 'Bearer token-1' ? 401 : 200, authorization)
    }),
  )
  issuer.respondOnceWith(() => issuer.after(20))
  const results = Promise.all(calls)
  await vi.advanceTimersByTimeAsync(200)
  expect(new Set(await results)).toEqual(new Set(['Bearer token-2']))
  expect(issuer.count).toBe(2)
  expect(sent).toHaveLength(100)
})

test('with a live token the attempt is made at once, without a promise before it', async () => {
  const { tokens } = fakeService()
  await tokens.warmUp()
  let sent = false
  const call = apiOf(tokens).send(async () => {
    sent = true
    return answer(200, 'ok')
  })
  expect(sent).toBe(true)
  await expect(call).resolves.toBe('ok')
})

test('1,000 calls at once against an API that refuses everything cost two token requests', async () => {
  const { tokens, issuer } = fakeService()
  await tokens.warmUp()
  let sends = 0
  const calls = Array.from({ length: 1_000 }, (_, index) =>
    apiOf(tokens).send(async () => {
      sends += 1
      await new Promise((resolve) => setTimeout(resolve, index % 100))
      return answer(401, 401)
    }),
  )
  const results = Promise.all(calls)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(new Set(await results)).toEqual(new Set([401]))
  expect(issuer.count).toBe(2)
  expect(sends).toBeLessThanOrEqual(2_000)
})

test('a token that is refused is not sent again, also when no other can be had', async () => {
  const { tokens, issuer } = fakeService({ maxWait: 1 })
  await tokens.warmUp()
  issuer.respondWith(() => unavailable())
  const sent: string[] = []
  for (let call = 0; call < 10; call += 1) {
    const outcome = apiOf(tokens).send(async (authorization) => {
      sent.push(authorization)
      return answer(401, undefined)
    })
    await expect(outcome).rejects.toMatchObject({ code: 'TOKEN_REQUEST_FAILED' })
  }
  expect(sent).toEqual(['Bearer token-1'])
  expect(issuer.count).toBe(2)
})

test('a straggling 401 reuses the newer token', async () => {
  const { tokens, issuer } = fakeService()
  await tokens.warmUp()
  const call = (delay: number): Promise<string> =>
    apiOf(tokens).send(async (authorization) => {
      await new Promise((resolve) => setTimeout(resolve, delay))
      return answer(authorization === 'Bearer token-1' ? 401 : 200, authorization)
    })
  const both = Promise.all([call(5), call(400)])
  await vi.advanceTimersByTimeAsync(1_000)
  await expect(both).resolves.toEqual(['Bearer token-2', 'Bearer token-2'])
  expect(issuer.count).toBe(2)
})

test('an API that refuses everything costs a handful of token requests', async () => {
  const { tokens, issuer } = fakeService()
  const sends: number[] = []
  for (let call = 0; call < 1_000; call += 1) {
    let count = 0
    await apiOf(tokens).send(async () => {
      count += 1
      return answer(401, undefined)
    })
    sends.push(count)
  }
  expect(sends[0]).toBe(2)
  expect(new Set(sends.slice(1))).toEqual(new Set([1]))
  expect(issuer.count).toBe(2)
})

test('renewals that a refusing API forces are spaced: from half a second to a minute apart', async () => {
  const { tokens, issuer } = fakeService()
  for (let second = 0; second < 600; second += 1) {
    await apiOf(tokens).send(async () => answer(401, undefined))
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect(issuer.count).toBeGreaterThan(8)
  expect(issuer.count).toBeLessThan(30)
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

test('one endpoint that always answers 401, beside good ones, costs one token request and no further token', async () => {
  const { tokens, issuer } = fakeService()
  for (let call = 0; call < 1_000; call += 1) {
    await apiOf(tokens).send(async () => answer(call % 2 === 0 ? 401 : 200, undefined))
    await vi.advanceTimersByTimeAsync(10)
  }
  expect(issuer.count).toBe(2)
})

test('300 calls, every other answer a 401: six token requests', async () => {
  const { tokens, issuer } = fakeService()
  let answers = 0
  for (let call = 0; call < 300; call += 1) {
    await inTime(apiOf(tokens).send(async () => answer((answers += 1) % 2 === 0 ? 401 : 200, undefined)))
    await vi.advanceTimersByTimeAsync(5)
  }
  expect(issuer.count).toBe(6)
})

test.each([10, 100, 1_000, 3_000])(
  'random 401s, a call every %d ms: a token request a second at most',
  async (every) => {
    const rejectedAt: number[] = []
    const { tokens, issuer } = fakeService(
      {},
      { observe: ({ type }) => void (type === 'token.rejected' && rejectedAt.push(performance.now())) },
    )
    for (let call = 0; call < 2_000; call += 1) {
      await inTime(apiOf(tokens).send(async () => answer(Math.random() < 0.3 ? 401 : 200, undefined)))
      await vi.advanceTimersByTimeAsync(every)
    }
    for (const [index, at] of rejectedAt.slice(1).entries())
      expect(at - (rejectedAt[index] as number)).toBeGreaterThanOrEqual(1_000)
    expect(issuer.count).toBeLessThanOrEqual(Math.min(2 * every + 6, 60 + every / 10))
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
    apiOf(tokens).send(async (authorization) => {
      const status = url === 'refusing' || authorization === revoked ? 401 : 200
      return answer(status, status)
    })
  await call('refusing')
  await call('good')
  await call('refusing')
  await call('good')
  expect(issuer.count).toBe(2)
  revoked = 'Bearer token-2'
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await call('good')).toBe(401)
  await vi.advanceTimersByTimeAsync(999)
  expect(await call('good')).toBe(401)
  await vi.advanceTimersByTimeAsync(1)
  expect(await call('good')).toBe(200)
  expect(issuer.count).toBe(3)
})

test('a token that is revoked five times in a row loses no call, one renewal a second; the sixth time a call gets its 401', async () => {
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
  const outcomes = []
  const start = performance.now()
  for (const token of [1, 2, 3, 4, 5, 6]) {
    revoked.add(`Bearer token-${token}`)
    outcomes.push(await call())
  }
  expect(outcomes).toEqual([200, 200, 200, 200, 200, 401])
  expect(rejectedAt.map((at) => at - start)).toEqual([0, 1_000, 2_000, 3_000, 4_000])
  await vi.advanceTimersByTimeAsync(16_000)
  expect(await call()).toBe(200)
  expect(issuer.count).toBe(7)
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

test('what a call waited for its renewal is told as the wait for its token', async () => {
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

test('a 401 of a token that was replaced meanwhile does not use up the one renewal: three sends', async () => {
  const { tokens, issuer } = fakeService()
  await tokens.warmUp()
  const revoked = new Set(['Bearer token-1'])
  const sent: string[] = []
  const call = (delay: number): Promise<number> =>
    apiOf(tokens).send(async (authorization) => {
      sent.push(authorization)
      const status = revoked.has(authorization) ? 401 : 200
      await new Promise((resolve) => setTimeout(resolve, delay))
      return answer(status, status)
    })
  const straggler = call(1_500)
  const first = call(10)
  await vi.advanceTimersByTimeAsync(100)
  await expect(first).resolves.toBe(200)
  revoked.add('Bearer token-2')
  sent.length = 0
  await vi.advanceTimersByTimeAsync(5_000)
  await expect(straggler).resolves.toBe(200)
  expect(sent).toEqual(['Bearer token-2', 'Bearer token-3'])
  expect(issuer.count).toBe(3)
})

test('a call is sent three times at most, however often its token is replaced', async () => {
  const { tokens } = fakeService()
  const api = apiOf(tokens)
  let sends = 0
  const outcome = api.send(async (authorization) => {
    sends += 1
    await vi.advanceTimersByTimeAsync(60_000)
    // another call has this very token renewed
    await api.send(async (other) => answer(other === authorization ? 401 : 200, undefined))
    return answer(401, 'refused')
  })
  await expect(outcome).resolves.toBe('refused')
  expect(sends).toBe(3)
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
  revoked.add('Bearer token-2')
  await expect(inTime(apiOf(tokens).send(attempt))).resolves.toBe(200)
  expect(issuer.count).toBe(3)
})

test('a pass from `admit` serves the first attempt, and the rule goes on from there', async () => {
  const { tokens, issuer } = fakeService()
  const pass = await apiOf(tokens).admit()
  const sent: string[] = []
  const attempt = async (authorization: string): Promise<Exchange<number>> => {
    sent.push(authorization)
    return answer(sent.length === 1 ? 401 : 200, sent.length)
  }
  await expect(apiOf(tokens).send(attempt, { pass })).resolves.toBe(2)
  expect(sent).toEqual(['Bearer token-1', 'Bearer token-2'])
  expect(issuer.count).toBe(2)
  await tokens.close()
})

test('a body that can be read once is not sent again: the 401 is the caller\u2019s, the token is renewed', async () => {
  const { tokens, issuer } = fakeService()
  const once = { replayable: false }
  await expect(apiOf(tokens).send(async () => answer(401, 'refused'), once)).resolves.toBe('refused')
  await expect(apiOf(tokens).send(async (token) => answer(200, token), once)).resolves.toBe('Bearer token-2')
  expect(issuer.count).toBe(2)
})

test.each([
  { option: { resend: false }, api: {}, sends: 1 },
  { option: { resend: true }, api: { resend: false }, sends: 2 },
  { option: {}, api: { resend: false }, sends: 1 },
  { option: { method: 'POST' }, api: { resend: ['GET', 'HEAD'] }, sends: 1 },
  { option: { method: 'GET' }, api: { resend: ['GET', 'HEAD'] }, sends: 2 },
  { option: {}, api: { resend: ['GET', 'HEAD'] }, sends: 1 },
])('$option at an API with $api: $sends sends after a 401, and the token is renewed', async (given) => {
  const { tokens, issuer } = fakeService(
    {},
    { apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general', ...given.api }] },
  )
  let sends = 0
  await apiOf(tokens).send(async () => {
    sends += 1
    return answer(sends === 1 ? 401 : 200, undefined)
  }, given.option)
  expect(sends).toBe(given.sends)
  await expect(apiOf(tokens).send(async (token) => answer(200, token))).resolves.toBe('Bearer token-2')
  expect(issuer.count).toBe(2)
})

test('with `resend: false` a 429 is the caller\u2019s, and the API pauses all the same', async () => {
  const ratePolicy = { limits: [{ quota: 10, window: 1_000 }] }
  const { tokens, eventsOf } = fakeService(
    {},
    { apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general', ratePolicy }] },
  )
  const options = { resend: false }
  await expect(apiOf(tokens).send(async () => answer(429, 429), options)).resolves.toBe(429)
  expect(eventsOf('api.paused')).toHaveLength(1)
})

test('a call that is under way, as one that is redirected, ends as it would while the manager closes', async () => {
  const { tokens } = fakeService()
  const closeMayGoOn = apiOf(tokens).keepOpen()
  await apiOf(tokens).send(async () => answer(303, undefined))
  let closed = false
  const closing = tokens.close().then(() => (closed = true))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(closed).toBe(false)
  const hop = apiOf(tokens).send(async (token) => answer(200, token), { sentBefore: true })
  await expect(hop).resolves.toBe('Bearer token-1')
  closeMayGoOn()
  closeMayGoOn()
  await closing
})

test('a 401 for another reason than the token renews nothing', async () => {
  const { tokens, issuer } = fakeService()
  const attempt = async (): Promise<Exchange<number>> =>
    answer(401, 401, { wwwAuthenticate: 'Bearer error="insufficient_scope"' })
  await expect(apiOf(tokens).send(attempt)).resolves.toBe(401)
  await expect(apiOf(tokens).send(async () => answer(403, 403))).resolves.toBe(403)
  expect(issuer.count).toBe(1)
})

test('without a token nothing is sent', async () => {
  const { tokens, issuer } = fakeService()
  issuer.respondWith(() => refusal())
  let sends = 0
  const call = apiOf(tokens).send(async () => {
    sends += 1
    return answer(200, undefined)
  })
  await expect(call).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED', oauthError: 'invalid_client' })
  expect(sends).toBe(0)
})

test('what an attempt fails with is passed on as it is', async () => {
  const { tokens } = fakeService()
  const reset = new Error('ECONNRESET')
  await expect(apiOf(tokens).send(() => Promise.reject(reset))).rejects.toBe(reset)
})

test('an abort before the call sends nothing and asks for nothing', async () => {
  const { tokens, issuer } = fakeService()
  const reason = new Error('aborted')
  const call = apiOf(tokens).send(async () => answer(200, undefined), { signal: AbortSignal.abort(reason) })
  await expect(call).rejects.toBe(reason)
  expect(issuer.count).toBe(0)
})

test('an abort while the token is renewed ends this call at once, and no other', async () => {
  const { tokens, issuer } = fakeService()
  issuer.respondOnceWith(() => issuer.after(100))
  const controller = new AbortController()
  const reason = new Error('aborted')
  const aborted = apiOf(tokens).send(async () => answer(200, 'sent'), { signal: controller.signal })
  const other = apiOf(tokens).send(async () => answer(200, 'sent'))
  await vi.advanceTimersByTimeAsync(20)
  controller.abort(reason)
  await expect(aborted).rejects.toBe(reason)
  await vi.advanceTimersByTimeAsync(80)
  await expect(other).resolves.toBe('sent')
  expect(issuer.count).toBe(1)
})

test('an abort between the arrival of the token and the send sends nothing, and holds nothing', async () => {
  for (let microtasks = 0; microtasks < 20; microtasks += 1) {
    const controller = new AbortController()
    const abort = async (): Promise<void> => {
      for (let passed = 0; passed < microtasks; passed += 1) await Promise.resolve()
      controller.abort()
    }
    const { tokens } = fakeService({}, { observe: ({ type }) => void (type === 'token.renewed' && abort()) })
    const attempt = async (): Promise<Exchange<boolean>> => answer(200, controller.signal.aborted)
    const sentAfterAbort = apiOf(tokens).send(attempt, { signal: controller.signal })
    expect(await sentAfterAbort.catch(() => false)).toBe(false)
    await tokens.close()
  }
})

test('admit gives a pass for each attempt, and the report says whether one more is due', async () => {
  const { tokens, issuer } = fakeService()
  const first = await apiOf(tokens).admit()
  expect(first.authorization).toBe('Bearer token-1')
  expect(first.report({ status: 401 })).toBe('again')
  const second = await first.next()
  expect(second.authorization).toBe('Bearer token-2')
  expect(second.report({ status: 401 })).toBe('final')
  second.release()
  second.release()
  expect(issuer.count).toBe(2)
  await tokens.close()
})

test('close() by an observer of `call.sent` waits for that very call', async () => {
  const ratePolicy = { limits: [{ quota: 10, window: 1_000 }] }
  const closings: Promise<void>[] = []
  let ended = false
  let endedBeforeClose: boolean | undefined
  const { tokens } = fakeService(
    {},
    {
      apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general', ratePolicy }],
      observe: ({ type }) => {
        if (type === 'call.sent') closings.push(tokens.close().then(() => void (endedBeforeClose = ended)))
      },
    },
  )
  await tokens.warmUp()
  const call = apiOf(tokens).send(async () => {
    await new Promise((resolve) => setTimeout(resolve, 300))
    ended = true
    return answer(200, 'ok')
  })
  await vi.advanceTimersByTimeAsync(1_000)
  await expect(call).resolves.toBe('ok')
  await Promise.all(closings)
  expect(endedBeforeClose).toBe(true)
})

test('a call that an observer of `call.sent` makes leaves no timer behind', async () => {
  const ratePolicy = { limits: [{ quota: 1, window: 1_000 }], maxQueued: 10 }
  let more = 3
  const { tokens } = fakeService(
    {},
    {
      apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general', ratePolicy }],
      observe: ({ type }) => {
        if (type === 'call.sent' && (more -= 1) >= 0) calls.push(call())
      },
    },
  )
  const call = (): Promise<number> => apiOf(tokens).send(async () => answer(200, 200))
  const calls: Promise<number>[] = []
  await tokens.warmUp()
  calls.push(call(), call())
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await Promise.all(calls)).toEqual([200, 200, 200, 200, 200])
  expect(vi.getTimerCount()).toBe(0)
})

test('a call that fails while the token is renewed after a 401 tells why, and holds nothing', async () => {
  const { tokens, issuer } = fakeService({ maxWait: 1_000 })
  await tokens.warmUp()
  issuer.respondWith(() => unavailable())
  const call = apiOf(tokens).send(async () => answer(401, undefined))
  const outcome = expect(call).rejects.toMatchObject({ code: 'TOKEN_REQUEST_FAILED', status: 503 })
  await vi.advanceTimersByTimeAsync(1_000)
  await outcome
  await tokens.close()
})

const limited = (): ReturnType<typeof fakeService> => {
  const ratePolicy = { limits: [], concurrency: 1 }
  return fakeService({}, { apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general', ratePolicy }] })
}

test.each([
  ['no rate policy', () => fakeService()],
  ['a rate policy', limited],
])(
  'with %s, a pass that need not be waited for is there at once, and no hook of the wait runs',
  async (_, service) => {
    const { tokens } = service()
    const beforeWait = vi.fn()
    const waitSignal = vi.fn(() => new AbortController().signal)
    const first = apiOf(tokens).admit({ beforeWait, waitSignal })
    expect(first).toBeInstanceOf(Promise)
    expect([beforeWait.mock.calls.length, waitSignal.mock.calls.length]).toEqual([1, 1])
    const pass = await first
    pass.release()
    const second = apiOf(tokens).admit({ beforeWait, waitSignal })
    expect(second).toMatchObject({ authorization: 'Bearer token-1' })
    expect([beforeWait.mock.calls.length, waitSignal.mock.calls.length]).toEqual([1, 1])
    if (!(second instanceof Promise)) second.release()
  },
)

test('`waitSignal` ends the wait for a token and in the queue, in the place of `signal`', async () => {
  for (const { tokens } of [fakeService(), limited()]) {
    const own = new AbortController()
    const given = new AbortController()
    const waiting = apiOf(tokens).admit({ signal: given.signal, waitSignal: () => own.signal })
    own.abort(new Error('own'))
    await expect(waiting).rejects.toThrow('own')
  }
})

test('a call that cannot be admitted is a rejection, also where nothing was waited for', async () => {
  const { tokens } = fakeService()
  await tokens.warmUp()
  const gone = new Error('gone')
  await expect(apiOf(tokens).admit({ signal: AbortSignal.abort(gone) })).rejects.toBe(gone)
  await expect(apiOf(limited().tokens).admit({ priority: 0.5 })).rejects.toMatchObject({
    code: 'INVALID_OPTIONS',
  })
  await tokens.close()
})
