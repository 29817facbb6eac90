import { expect, test, vi } from 'vitest'
import { fakeTime } from '../../test/fake-time.ts'
import { answer, apiOf, inTime } from '../../test/one-api.ts'
import { fakeService, unavailable } from '../../test/fake-issuer.ts'
import type { Exchange } from '../adapter.ts'

fakeTime()

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

test('the second 401 is the caller\u2019s, at once', async () => {
  const { tokens, issuer } = fakeService()
  const sentAt: number[] = []
  const start = performance.now()
  const call = apiOf(tokens).send(async (authorization) => {
    sentAt.push(performance.now() - start)
    return answer(401, authorization)
  })
  await expect(inTime(call)).resolves.toBe('Bearer token-2')
  expect(sentAt).toEqual([0, 0])
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
  await vi.advanceTimersByTimeAsync(1_300)
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

test('a 401 of a token that was replaced meanwhile uses up the one retry: a 401 of its successor is the caller\u2019s', async () => {
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
  await expect(straggler).resolves.toBe(401)
  expect(sent).toEqual(['Bearer token-2'])
  await expect(inTime(call(0))).resolves.toBe(200)
  expect(issuer.count).toBe(3)
})

test('a call is sent twice at most, however often its token is replaced', async () => {
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
  expect(sends).toBe(2)
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

test('a 401 for another reason than the token renews nothing', async () => {
  const { tokens, issuer } = fakeService()
  const attempt = async (): Promise<Exchange<number>> =>
    answer(401, 401, { wwwAuthenticate: 'Bearer error="insufficient_scope"' })
  await expect(apiOf(tokens).send(attempt)).resolves.toBe(401)
  await expect(apiOf(tokens).send(async () => answer(403, 403))).resolves.toBe(403)
  expect(issuer.count).toBe(1)
})

test('what an attempt fails with is passed on as it is', async () => {
  const { tokens } = fakeService()
  const reset = new Error('ECONNRESET')
  await expect(apiOf(tokens).send(() => Promise.reject(reset))).rejects.toBe(reset)
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

test('the error of a call that was queued leads to its caller', async () => {
  const baseUrl = 'https://api.example.com/'
  const ratePolicy = { limits: [], concurrency: 1 }
  const { tokens } = fakeService({}, { apis: [{ baseUrl, issuer: 'general', ratePolicy }] })
  await tokens.warmUp()
  const nightlyImport = async (): Promise<void> => {
    await apiOf(tokens).send(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      throw new Error('socket hang up')
    })
  }
  const calls = [nightlyImport(), nightlyImport()]
  expect(tokens.status().apis).toMatchObject([{ running: 1, queued: 1 }])
  for (const outcome of await inTime(Promise.allSettled(calls)))
    expect((outcome as PromiseRejectedResult).reason.stack).toContain('nightlyImport')
})
