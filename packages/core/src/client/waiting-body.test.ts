import { PassThrough } from 'node:stream'

import { expect, onTestFinished, test } from 'vitest'

import { watchBody } from './waiting-body.ts'

/** Long enough for the events of a stream, which come in the next turn. */
const events = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a Node stream that fails while its call waits ends the wait with its error, and is not uncaught', async () => {
  const stream = new PassThrough()
  const body = watchBody(stream)
  const error = new Error('ENOENT')
  stream.destroy(error)
  await events()
  expect([body.death, body.signal?.reason]).toEqual([{ error }, error])
  body.abandon()
})

test('a Node stream that is destroyed without an error ends the wait', async () => {
  const stream = new PassThrough()
  const body = watchBody(stream)
  stream.destroy()
  await events()
  expect([body.death, body.signal?.aborted]).toEqual([{ error: undefined }, true])
  body.abandon()
})

test('a Node stream that somebody else reads to its end ends the wait', async () => {
  const stream = new PassThrough()
  const body = watchBody(stream)
  stream.end('x')
  stream.resume()
  await events()
  expect(body.death).toBeDefined()
  body.abandon()
})

test('a web stream that fails ends the wait with its error', async () => {
  let fail!: (error: Error) => void
  const stream = new ReadableStream({
    start: (controller) => void (fail = (error) => controller.error(error)),
  })
  const body = watchBody(stream)
  const error = new Error('gone')
  fail(error)
  await events()
  expect(body.death).toEqual({ error })
  body.abandon()
  expect(stream.locked).toBe(false)
})

test('a web stream that is empty is sent as it is', async () => {
  const stream = new ReadableStream({ start: (controller) => controller.close() })
  const body = watchBody(stream)
  await events()
  expect([body.death, body.signal?.aborted]).toEqual([undefined, false])
  body.release()
  expect(stream.locked).toBe(false)
})

test('nothing is left on a stream and a signal once the call is sent', () => {
  const stream = new PassThrough()
  const before = stream.eventNames().map((name) => [name, stream.listenerCount(name)])
  const { signal } = new AbortController()
  const added = new Set<unknown>()
  signal.addEventListener = (_: string, listener: unknown) => void added.add(listener)
  signal.removeEventListener = (_: string, listener: unknown) => void added.delete(listener)
  const body = watchBody(stream, signal)
  expect(added.size).toBe(1)
  body.release()
  expect([added.size, stream.eventNames().map((name) => [name, stream.listenerCount(name)])]).toEqual([
    0,
    before,
  ])
})

test('a Node stream that fails after its call failed for another reason is not uncaught', async () => {
  const stream = new PassThrough()
  const body = watchBody(stream)
  body.abandon()
  stream.destroy(new Error('ENOENT'))
  await events()
  expect(stream.listenerCount('error')).toBe(1)
})

test("the caller's abort is passed on with its reason", () => {
  const controller = new AbortController()
  const body = watchBody(new PassThrough(), controller.signal)
  controller.abort('enough')
  expect([body.signal?.reason, body.death]).toEqual(['enough', undefined])
  body.release()
})

test('what can be sent twice, and a generator, is not watched', () => {
  const { signal } = new AbortController()
  const generator = (async function* () {})()
  for (const body of ['text', undefined, null, Buffer.from('x'), new Blob(['x']), generator])
    expect(watchBody(body, signal).signal).toBe(signal)
})

test('on Bun a web stream is not locked while its call waits: Bun would not send it any more', () => {
  Object.assign(process.versions, { bun: '1.4.5' })
  onTestFinished(() => {
    delete process.versions['bun']
  })
  const stream = new Blob(['x']).stream()
  const body = watchBody(stream)
  expect(stream.locked).toBe(false)
  body.release()
})
