import { AbortError, TimeoutError } from 'got'
import { describe, expect, test, vi } from 'vitest'

import {
  calls,
  client,
  controller,
  failApi,
  failure,
  line,
  occupy,
  sandbox,
  tokenRequests,
  useService,
} from './service.ts'

await useService()

describe("an abort is got's own error", () => {
  test('before the call, with nothing sent', async () => {
    const call = client('records', { signal: AbortSignal.abort() })
    expect(await failure(call)).toBeInstanceOf(AbortError)
    expect([calls(), tokenRequests()]).toEqual([0, 0])
  })

  test('while the issuer is slow', async () => {
    sandbox.control.slowIssuer('weblink', 500)
    const { signal } = controller
    const call = failure(client('records', { signal }))
    await vi.waitFor(() => expect(tokenRequests()).toBe(1))
    controller.abort()
    expect(await call).toBeInstanceOf(AbortError)
    expect(calls()).toBe(0)
  })

  test('in line, and in flight', async () => {
    const { signal } = controller
    const flying = failure(client('slow?ms=60000', { signal }))
    await vi.waitFor(() => expect(calls()).toBe(1))
    const waiting = failure(client('records', { signal }))
    await vi.waitFor(() => expect(line()?.queued).toBe(1))
    controller.abort()
    expect([await flying, await waiting]).toEqual([expect.any(AbortError), expect.any(AbortError)])
    expect(calls()).toBe(1)
  })

  test('while the API pauses after it refused the call, which leaves the queue at once', async () => {
    failApi(429, 1, 60)
    const { signal } = controller
    const call = failure(client('records', { signal }))
    await vi.waitFor(() => expect(line()).toHaveProperty('pausedUntil'))
    await vi.waitFor(() => expect(line()?.queued).toBe(1))
    controller.abort()
    expect(await call).toBeInstanceOf(AbortError)
    await vi.waitFor(() => expect(line()?.queued).toBe(0))
    expect(calls()).toBe(1)
  })

  test('of AbortSignal.timeout, a TimeoutError', async () => {
    const release = await occupy()
    expect(await failure(client('records', { signal: AbortSignal.timeout(20) }))).toBeInstanceOf(TimeoutError)
    release()
  })
})

test('the wait is outside of timeout.request', async () => {
  const release = await occupy()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const call = client('records', { timeout: { request: 30_000 } })
  await vi.waitFor(() => expect(line()?.queued).toBe(1))
  vi.advanceTimersByTime(60_000)
  vi.useRealTimers()
  release()
  expect((await call).statusCode).toBe(200)
})

test('timeout.request ends the wait after a redirect', async () => {
  let release: (() => void) | undefined
  const beforeRedirect = [async () => void (release = await occupy())]
  const options = { searchParams: { to: 'records' }, hooks: { beforeRedirect }, timeout: { request: 200 } }
  expect(await failure(client('redirect', options))).toBeInstanceOf(TimeoutError)
  expect([calls(), line()?.queued]).toEqual([1, 0])
  release?.()
})
