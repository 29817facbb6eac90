import type { IncomingMessage } from 'node:http'

import { expect, test } from 'vitest'

import { slowEndpoint } from './slow.ts'

const slow = async (query: string) =>
  slowEndpoint({
    request: {} as IncomingMessage,
    rest: '',
    query: new URLSearchParams(query),
    baseUrl: 'https://x/',
  })

test('the response comes after the time', async () => {
  const start = performance.now()
  expect((await slow('ms=20')).body).toBe('{"waited":20}')
  expect(performance.now() - start).toBeGreaterThanOrEqual(19)
})

test.each(['', 'ms=', 'ms=-1', 'ms=1.5', 'ms=600001'])('%j is refused', async (query) => {
  expect((await slow(query)).status).toBe(400)
})
