import { getEventListeners } from 'node:events'
import { expect, test, vi } from 'vitest'
import { fakeTime, minute, pass, second } from '../../test/fake-time.ts'
import { fakeService, unavailable } from '../../test/fake-issuer.ts'
import { Delay } from '../time/delay.ts'

fakeTime()

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

test('a failed flight is not used for later calls', async () => {
  const { tokens, issuer } = fakeService({ maxWait: 1 })
  issuer.respondOnceWith(() => new Response('<html>')).respondOnceWith(() => new Response('{}'))
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_RESPONSE_INVALID' })
  await pass(second)
  await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_RESPONSE_INVALID' })
  await pass(2 * second)
  await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
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
