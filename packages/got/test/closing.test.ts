import { gzipSync } from 'node:zlib'

import { openScriptedApi, type ScriptedResponse } from '@tokenlane/conformance'
import { HTTPError, type ExtendOptions } from 'got'
import { expect, onTestFinished, test } from 'vitest'

import { client, createManager, failure, use, useService } from './service.ts'

await useService()

// A call that waits after a 429 while its manager closes: the caller gets that response, as got alone gives it.

const limited: ScriptedResponse = {
  status: 429,
  headers: { 'retry-after': '600', 'content-type': 'application/json', 'content-encoding': 'gzip' },
  body: gzipSync('{"error":"slow down"}'),
}

/** Sends a call to an API that refuses each for its limit, and closes the manager while the call waits. */
async function closeMeanwhile(response: ScriptedResponse, options: ExtendOptions): Promise<unknown> {
  const api = await openScriptedApi(() => response)
  onTestFinished(() => api.close())
  const queued = Promise.withResolvers<void>()
  const manager = createManager({
    apis: [
      { baseUrl: 'https://api.example/', issuer: 'general', ratePolicy: { limits: [] } },
      { baseUrl: api.url, issuer: 'weblink', ratePolicy: { limits: [] } },
    ],
    observe: ({ type }) => type === 'call.queued' && queued.resolve(),
  })
  await manager.warmUp()
  await use(manager, options)
  const call = failure(client(api.url, { prefixUrl: '' }))
  await queued.promise
  await manager.close()
  const error = await call
  expect(api.requests.length).toBe(1)
  return error
}

test.each<[string, ExtendOptions]>([
  ['no retries of its own', {}],
  ["got's own retries", { retry: { limit: 2 } }],
  ['retries without a limit', { retry: { limit: 2, calculateDelay: () => 1 } }],
  ['a cache', { cache: new Map() }],
])('with its body, with %s', async (_, options) => {
  const error = await closeMeanwhile(limited, options)
  expect(error).toBeInstanceOf(HTTPError)
  const { statusCode, headers, body } = (error as HTTPError).response
  expect([statusCode, headers['retry-after'], body]).toEqual([429, '600', '{"error":"slow down"}'])
})

test('without a body that was given up', async () => {
  const error = await closeMeanwhile({ ...limited, body: 'x'.repeat(200_000), headers: {} }, {})
  expect((error as HTTPError).response).toMatchObject({ statusCode: 429, body: '' })
})
