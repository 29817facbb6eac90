import { getEventListeners } from 'node:events'

import { describe, expect, test, vi } from 'vitest'

import {
  weblink,
  calls,
  revoke,
  tokens,
  client,
  asked,
  bare,
  holdIssuer,
  failure,
  lane,
  useService,
} from './support.ts'

await useService()

describe('an abort', () => {
  const reason = new Error('enough')

  test('before the call: nothing is sent', async () => {
    const signal = AbortSignal.abort()
    for (const instance of [bare, client])
      expect(await failure(instance(weblink('records'), { signal }))).toBe(signal.reason)
    expect([calls(), asked]).toEqual([0, 0])
  })

  test('while the issuer is slow: at once, and nothing is sent', async () => {
    holdIssuer()
    const controller = new AbortController()
    const { signal } = controller
    const call = failure(client(new Request(weblink('records'), { signal })))
    await vi.waitFor(() => expect(asked).toBe(1))
    controller.abort(reason)
    expect(await call).toBe(reason)
    expect(calls()).toBe(0)
  })

  test('in the queue, and in flight', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const inFlight = failure(client(weblink('slow?ms=60000'), { signal }))
    await vi.waitFor(() => expect(calls()).toBe(1))
    const queued = failure(client(weblink('records'), { signal }))
    await vi.waitFor(() => expect(lane()).toEqual({ running: 1, queued: 1 }))
    controller.abort(reason)
    expect(await inFlight).toBe(reason)
    expect(await queued).toBe(reason)
    expect(getEventListeners(signal, 'abort')).toEqual([])
    expect(calls()).toBe(1)
  })

  test('between a 401 and the new token', async () => {
    await revoke(tokens)
    holdIssuer()
    const controller = new AbortController()
    const call = failure(client.post(weblink('echo'), { body: 'x', signal: controller.signal }))
    await vi.waitFor(() => expect(asked).toBe(2))
    controller.abort(reason)
    expect(await call).toBe(reason)
    expect(calls()).toBe(1)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })
})
