import { Readable } from 'node:stream'
import { expect, test } from 'vitest'

import { isReplayable } from './given-request.ts'

const again: unknown[] = [
  undefined,
  null,
  'text',
  Buffer.from('bytes'),
  new Uint16Array(2),
  new ArrayBuffer(2),
  new URLSearchParams(),
  new Blob([]),
  new FormData(),
]
const once: unknown[] = [
  Readable.from([]),
  Object.assign(Readable.from([]), { [Symbol.toStringTag]: 'FormData' }),
  new ReadableStream(),
  (function* generate() {})(),
  (async function* generate() {})(),
  {},
]

test.each(again)('%s can be sent again', (body) => {
  expect(isReplayable(body)).toBe(true)
})

test.each(once)('%s can be sent once', (body) => {
  expect(isReplayable(body)).toBe(false)
})
