import { expect, test, vi } from 'vitest'
import { fakeTime } from '../../test/fake-time.ts'
import { answer, apiOf } from '../../test/one-api.ts'
import { fakeService, refusal } from '../../test/fake-issuer.ts'
import type { Exchange, Pass } from '../adapter.ts'

fakeTime()

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

test('the pass of a redirect is not refused while the manager closes, which waits for it', async () => {
  const { tokens } = fakeService()
  const first = await apiOf(tokens).admit()
  let closed = false
  const closing = tokens.close().then(() => (closed = true))
  expect(first.report({ status: 303 })).toBe('final')
  const hop = await first.follow()
  first.release()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(closed).toBe(false)
  expect(hop.authorization).toBe('Bearer token-1')
  hop.release()
  await closing
})

test('`send` follows a redirect with the pass that the exchange asks for, and `close` waits', async () => {
  const { tokens, eventsOf } = fakeService()
  const api = apiOf(tokens)
  let closing: Promise<void> | undefined
  const follow = async (pass: Pass): Promise<string> => {
    closing = tokens.close()
    return api.send(async (token) => answer(200, token), { pass: await pass.follow({ method: 'GET' }) })
  }
  const call = api.send(async () => answer(303, 'a redirect', { follow }), { method: 'POST' })
  await expect(call).resolves.toBe('Bearer token-1')
  await closing
  expect(eventsOf('call.finished').map(({ status }) => status)).toEqual([303, 200])
})

test('a redirect that cannot be followed gives back what its call held', async () => {
  const { tokens } = limited()
  const follow = (): Promise<never> => Promise.reject(new Error('a circle'))
  const call = apiOf(tokens).send(async () => answer(303, 'a redirect', { follow }))
  await expect(call).rejects.toThrow('a circle')
  expect(tokens.status().apis[0]).toMatchObject({ running: 0, queued: 0 })
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

const limited = (): ReturnType<typeof fakeService> => {
  const ratePolicy = { limits: [], concurrency: 1 }
  return fakeService({}, { apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general', ratePolicy }] })
}

test.each([
  ['no rate policy', () => fakeService()],
  ['a rate policy', limited],
])('with %s, a pass that need not be waited for is there at once', async (_, service) => {
  const { tokens } = service()
  const first = apiOf(tokens).admit()
  expect(first).toBeInstanceOf(Promise)
  ;(await first).release()
  const second = apiOf(tokens).admit()
  expect(second).toMatchObject({ authorization: 'Bearer token-1' })
  ;(await second).release()
})

test('the signal ends the wait for a later attempt', async () => {
  const { tokens } = limited()
  await tokens.warmUp()
  const controller = new AbortController()
  const pass = await apiOf(tokens).admit({ signal: controller.signal })
  expect(pass.report({ status: 429, retryAfter: '60' })).toBe('again')
  const next = pass.next()
  let outcome: unknown
  next.catch((error: unknown) => (outcome = error))
  await vi.advanceTimersByTimeAsync(10)
  controller.abort(new Error('enough'))
  await vi.advanceTimersByTimeAsync(0)
  expect(outcome).toMatchObject({ message: 'enough' })
  expect(tokens.status().apis[0]).toMatchObject({ running: 0, queued: 0 })
})

test('the signal of a redirect ends the wait for it, and that of the call before does not', async () => {
  const { tokens } = limited()
  await tokens.warmUp()
  const [first, second] = [new AbortController(), new AbortController()]
  const moved = await apiOf(tokens).admit({ signal: first.signal })
  const waiting = apiOf(tokens).admit()
  const hop = moved.follow({ signal: second.signal })
  first.abort()
  const pass = await hop
  const last = expect(pass.follow({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow(
    'enough',
  )
  await last
  ;(await waiting).release()
  expect(tokens.status().apis[0]).toMatchObject({ running: 0, queued: 0 })
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
