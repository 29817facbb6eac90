import { expect, onTestFinished, test, vi } from 'vitest'
import { fakeTime } from '../../test/fake-time.ts'
import { answer, apiOf } from '../../test/one-api.ts'
import { fakeService, refusal } from '../../test/fake-issuer.ts'
import type { Exchange } from '../adapter.ts'

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

test('a call need not wait with a live token and without a rate policy, until the manager closes', async () => {
  const { tokens } = fakeService()
  const api = apiOf(tokens)
  expect(api.mayWait).toBe(true)
  await tokens.warmUp()
  expect(api.mayWait).toBe(false)
  const closing = tokens.close()
  expect(api.mayWait).toBe(true)
  await closing
})

test('a call may always have to wait with a rate policy', async () => {
  const ratePolicy = { limits: [{ quota: 10, window: 1_000 }] }
  const { tokens } = fakeService(
    {},
    { apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general', ratePolicy }] },
  )
  await tokens.warmUp()
  expect(apiOf(tokens).mayWait).toBe(true)
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
])(
  'with %s, a pass that need not be waited for is there at once, and no hook of the wait runs',
  async (_, service) => {
    const { tokens } = service()
    const validate = vi.fn()
    const waitSignal = vi.fn(() => new AbortController().signal)
    const first = apiOf(tokens).admitNow({ validate, waitSignal })
    expect(first).toBeInstanceOf(Promise)
    expect([validate.mock.calls.length, waitSignal.mock.calls.length]).toEqual([1, 1])
    const pass = await first
    pass.release()
    const second = apiOf(tokens).admitNow({ validate, waitSignal })
    expect(second).toMatchObject({ authorization: 'Bearer token-1' })
    expect([validate.mock.calls.length, waitSignal.mock.calls.length]).toEqual([1, 1])
    if (!(second instanceof Promise)) second.release()
  },
)

test('`admit` is a promise, also of a pass that is there at once', async () => {
  const { tokens } = fakeService()
  await tokens.warmUp()
  const admitted = apiOf(tokens).admit()
  expect(admitted).toBeInstanceOf(Promise)
  ;(await admitted).release()
})

test('`waitSignal` ends the wait for a token and in the queue, in the place of `signal`', async () => {
  for (const { tokens } of [fakeService(), limited()]) {
    const own = new AbortController()
    const given = new AbortController()
    const waiting = apiOf(tokens).admit({ signal: given.signal, waitSignal: () => own.signal })
    own.abort(new Error('own'))
    await expect(waiting).rejects.toThrow('own')
  }
})

test('the signal of `next` ends the wait of a later attempt, also where the first wait had a `waitSignal`', async () => {
  const { tokens } = limited()
  await tokens.warmUp()
  const first = new AbortController()
  const pass = await apiOf(tokens).admit({ waitSignal: () => first.signal })
  expect(pass.report({ status: 429, retryAfter: '60' })).toBe('again')
  const second = new AbortController()
  const next = pass.next({ signal: second.signal })
  let outcome: unknown
  next.catch((error: unknown) => (outcome = error))
  await vi.advanceTimersByTimeAsync(10)
  second.abort(new Error('second'))
  await vi.advanceTimersByTimeAsync(0)
  expect(outcome).toMatchObject({ message: 'second' })
  expect(tokens.status().apis[0]).toMatchObject({ running: 0, queued: 0 })
})

test('`waitSignal` ends the wait for a renewal that is put off, too', async () => {
  const { tokens } = fakeService()
  await apiOf(tokens).send(async (token) => answer(token === 'Bearer token-1' ? 401 : 200, undefined))
  const controller = new AbortController()
  const pass = await apiOf(tokens).admit({ waitSignal: () => controller.signal })
  expect(pass.report({ status: 401 })).toBe('again')
  const next = pass.next()
  controller.abort(new Error('given up'))
  await expect(next).rejects.toThrow('given up')
  expect(vi.getTimerCount()).toBe(0)
})

test('a call that cannot be admitted is a rejection, also where nothing was waited for', async () => {
  const { tokens } = fakeService()
  await tokens.warmUp()
  const gone = new Error('gone')
  await expect(apiOf(tokens).admitNow({ signal: AbortSignal.abort(gone) })).rejects.toBe(gone)
  await expect(apiOf(limited().tokens).admitNow({ priority: 0.5 })).rejects.toMatchObject({
    code: 'INVALID_OPTIONS',
  })
  await tokens.close()
})

test('a call that the runtime refuses, as between two events of a Worker, holds no slot', async () => {
  vi.stubGlobal('WebSocketPair', {})
  onTestFinished(() => void vi.unstubAllGlobals())
  const { tokens } = limited()
  const warmedUp = tokens.warmUp()
  await vi.advanceTimersByTimeAsync(100)
  await warmedUp
  const refuse = vi.spyOn(globalThis, 'setInterval').mockImplementation(() => {
    throw new Error('Disallowed operation called within global scope')
  })
  const call = apiOf(tokens).send(async () => answer(200, 'ok'))
  await expect(call).rejects.toMatchObject({ code: 'RUNTIME_UNSUPPORTED' })
  refuse.mockRestore()
  expect(tokens.status().apis[0]).toMatchObject({ running: 0, queued: 0 })
  await expect(apiOf(tokens).send(async () => answer(200, 'ok'))).resolves.toBe('ok')
})
