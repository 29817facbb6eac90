import { Readable } from 'node:stream'
import { expect, test, vi } from 'vitest'

import { discardBody } from './discard-body.ts'

const chunk = new Uint8Array(16_384)

test('a body of 64 KiB is read to its end', async () => {
  const stream = Readable.from(Array.from({ length: 4 }, () => chunk))
  await discardBody(stream)
  expect(stream.readableEnded).toBe(true)
})

test('a longer body is destroyed', async () => {
  const stream = Readable.from(Array.from({ length: 5 }, () => chunk))
  await discardBody(stream)
  expect([stream.readableEnded, stream.destroyed]).toEqual([false, true])
})

test('a longer stream of the web is cancelled', async () => {
  let cancelled = false
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(chunk),
    cancel() {
      cancelled = true
    },
  })
  await discardBody(stream)
  expect(cancelled).toBe(true)
})

test('no body is nothing to free', async () => {
  await expect(discardBody(null)).resolves.toBeUndefined()
})

test('a body that stops without an end is given up after a second', async () => {
  vi.useFakeTimers()
  const cancel = vi.fn<() => void>()
  const web = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(chunk), cancel })
  const node = new Readable({ read() {} })
  node.push(chunk)
  const discarded = vi.fn<() => void>()
  const both = Promise.all([discardBody(web), discardBody(node)]).then(discarded)
  await vi.advanceTimersByTimeAsync(999)
  expect([discarded.mock.calls.length, cancel.mock.calls.length, node.destroyed]).toEqual([0, 0, false])
  await vi.advanceTimersByTimeAsync(1)
  vi.useRealTimers()
  await both
  expect([cancel.mock.calls.length, node.destroyed]).toEqual([1, true])
})

test('a body that breaks is nothing to fail for', async () => {
  const broken = new ReadableStream<Uint8Array>({
    start: (controller) => controller.error(new Error('broken')),
  })
  await expect(discardBody(broken)).resolves.toBeUndefined()
  const stream = new Readable({ read: () => stream.destroy(new Error('broken')) })
  await expect(discardBody(stream)).resolves.toBeUndefined()
})
