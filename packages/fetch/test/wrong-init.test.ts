import { getEventListeners } from 'node:events'

import type { TokenManager } from '@tokenlane/core'
import { openService } from '@tokenlane/testing'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'

import { createFetch } from '../src/index.ts'

const { sandbox, createManager, weblink, calls, tokenRequests } = await openService()
type Init = NonNullable<Parameters<typeof globalThis.fetch>[1]>

let tokens: TokenManager
let fetch: typeof globalThis.fetch
beforeEach(() => {
  tokens = createManager()
  fetch = createFetch(tokens)
})
afterEach(() => tokens.close())

const stream = new ReadableStream()
const wrong: Record<string, () => unknown> = {
  'a method that is forbidden': () => ({ method: 'TRACE' }),
  'a method that is no token': () => ({ method: 'a b' }),
  'a GET with a body': () => ({ body: 'x' }),
  'a name of a header': () => ({ headers: { 'a b': 'c' } }),
  'a value of a header': () => ({ headers: { a: 'b\nc' } }),
  'a pair of headers': () => ({ headers: [['a']] }),
  'headers that are a number': () => ({ headers: 5 }),
  'headers that are null': () => ({ headers: null }),
  'a mode': () => ({ mode: 'nonsense' }),
  'the mode of pages': () => ({ mode: 'navigate' }),
  'a way to treat redirects': () => ({ redirect: 'nonsense' }),
  'a referrer': () => ({ referrer: 'http://[' }),
  'a policy': () => ({ referrerPolicy: 'x' }),
  'a signal that is a number': () => ({ signal: 5 }),
  'a signal that is an object': () => ({ signal: {} }),
  'a window': () => ({ window: 1 }),
  'a stream without duplex': () => ({ method: 'POST', body: stream }),
  'a stream that is locked': () => {
    const body = new ReadableStream()
    body.getReader()
    return { method: 'POST', body, duplex: 'half' }
  },
  'an init that is text': () => 'POST',
}

describe.each(Object.entries(wrong))('%s that is wrong is the TypeError of fetch', (_, init) => {
  const failure = (send: typeof globalThis.fetch): Promise<unknown> =>
    send(weblink('echo'), init() as Init).then(
      () => expect.fail('the call succeeded'),
      ({ name, message }: Error) => ({ name, message }),
    )

  test('at once, where the call would wait for a token that never comes', async () => {
    sandbox.control.slowIssuer('weblink', 60_000)
    expect(await failure(fetch)).toEqual(await failure(globalThis.fetch))
    expect([calls(), tokenRequests()]).toEqual([0, 0])
  })

  test('and takes no unit of a rate policy', async () => {
    const ratePolicy = { limits: [{ quota: 1, window: 60_000 }], maxWait: 1_000 }
    const limited = createManager({
      apis: [{ baseUrl: sandbox.weblinkUrl, issuer: 'weblink', ratePolicy }],
    })
    const send = createFetch(limited)
    await limited.getToken('weblink')
    expect(await failure(send)).toEqual(await failure(globalThis.fetch))
    expect((await send(weblink('records'))).status).toBe(200)
    expect(calls()).toBe(1)
    await limited.close()
  })

  test('at once, where the call would wait for a unit', async () => {
    const ratePolicy = { limits: [{ quota: 1, window: 60_000 }] }
    const limited = createManager({
      apis: [{ baseUrl: sandbox.weblinkUrl, issuer: 'weblink', ratePolicy }],
    })
    const send = createFetch(limited)
    expect((await send(weblink('records'))).status).toBe(200)
    expect(await failure(send)).toEqual(await failure(globalThis.fetch))
    expect(calls()).toBe(1)
    await limited.close()
  })

  test('also where its signal has aborted', async () => {
    const given = init()
    const aborted = typeof given === 'object' ? { signal: AbortSignal.abort(), ...given } : given
    const both = (send: typeof globalThis.fetch): Promise<unknown> => failure((input) => send(input, aborted))
    expect(await both(fetch)).toEqual(await both(globalThis.fetch))
  })

  test('where the token is live', async () => {
    await tokens.getToken('weblink')
    expect(await failure(fetch)).toEqual(await failure(globalThis.fetch))
    expect(calls()).toBe(0)
  })
})

test('a Request that has been used is the TypeError of fetch, at once', async () => {
  const request = new Request(weblink('echo'), { method: 'POST', body: 'x' })
  await request.text()
  const { message } = (await globalThis.fetch(request).catch((error: Error) => error)) as Error
  await expect(fetch(request)).rejects.toThrow(new TypeError(message))
  expect([calls(), tokenRequests()]).toEqual([0, 0])
})

test('a call that waits for nothing leaves it to fetch to look at its init', async () => {
  await tokens.getToken('weblink')
  const made = vi.fn<(...given: ConstructorParameters<typeof Request>) => Request>()
  vi.stubGlobal('Request', made)
  onTestFinished(() => void vi.unstubAllGlobals())
  expect((await fetch(weblink('records'), { headers: { accept: 'application/json' } })).status).toBe(200)
  expect(made).not.toHaveBeenCalled()
})

test('a call that waits leaves no listener on its signal before it is sent', async () => {
  sandbox.control.slowIssuer('weblink', 100)
  const controller = new AbortController()
  const call = fetch(weblink('records'), { signal: controller.signal })
  // the wait's own
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)
  controller.abort()
  await expect(call).rejects.toMatchObject({ name: 'AbortError' })
})

test("a signal of the runtime ends a call that waits where jsdom's AbortSignal has taken the place of its class", async () => {
  sandbox.control.slowIssuer('weblink', 60_000)
  const controller = new AbortController()
  vi.stubGlobal('AbortSignal', EventTarget)
  onTestFinished(() => void vi.unstubAllGlobals())
  const call = fetch(weblink('records'), { signal: controller.signal })
  controller.abort('over')
  await expect(call).rejects.toBe('over')
})
