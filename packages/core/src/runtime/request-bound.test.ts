import { afterEach, expect, test, vi } from 'vitest'

import { isRequestBound, outliveRequest, requestKeeper } from './request-bound.ts'

afterEach(() => vi.unstubAllGlobals())

test('Node ends nothing with a request, and work is left as it is', async () => {
  expect(isRequestBound()).toBe(false)
  expect(requestKeeper()).toBeUndefined()
  await expect(outliveRequest(Promise.resolve(1))).resolves.toBe(1)
})

test.each(['WebSocketPair', 'EdgeRuntime'])('a runtime with %s ends work with its request', (name) => {
  vi.stubGlobal(name, 'edge')
  expect(isRequestBound()).toBe(true)
})

test('work that fails beyond its request is reported to those who wait for it only', async () => {
  const kept: Promise<unknown>[] = []
  const waitUntil = (work: Promise<unknown>): unknown => kept.push(work)
  vi.stubGlobal('EdgeRuntime', 'vercel')
  vi.stubGlobal(Symbol.for('@vercel/request-context'), { get: () => ({ waitUntil }) })
  await expect(outliveRequest(Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await Promise.all(kept)).toEqual([undefined])
})
