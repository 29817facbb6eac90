import { Readable } from 'node:stream'
import { expect, test } from 'vitest'

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
