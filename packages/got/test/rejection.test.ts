import { Readable } from 'node:stream'

import { HTTPError, type Options, type Response, type StreamOptions } from 'got'
import { describe, expect, test, vi } from 'vitest'

import {
  bytes,
  calls,
  client,
  failApi,
  failure,
  retry,
  revoke,
  sandbox,
  sha256,
  tokenRequests,
  tokens,
  useService,
} from './service.ts'

await useService()

describe('a 401', () => {
  test.each([{}, { throwHttpErrors: false }, { retry: { limit: 2, calculateDelay: () => 0 } }])(
    'renews once and sends once more, with its hooks, and with %o',
    async (options) => {
      const beforeRetry = vi.fn<() => void>()
      const afterResponse = vi.fn((response: Response) => response)
      await revoke(tokens)
      const hooks = { beforeRetry: [beforeRetry], afterResponse: [afterResponse] }
      expect((await client('records', { ...options, hooks })).statusCode).toBe(200)
      expect([calls(), tokenRequests()]).toEqual([2, 1])
      expect([beforeRetry, afterResponse].map(({ mock }) => mock.calls.length)).toEqual([1, 1])
    },
  )

  test("is the caller's the second time", async () => {
    expect(await failure(client('status/401'))).toBeInstanceOf(HTTPError)
    expect(calls()).toBe(2)
    expect((await client('status/401', { throwHttpErrors: false })).statusCode).toBe(401)
  })

  test("does not count among got's own retries", async () => {
    await revoke(tokens)
    const beforeRetry = vi.fn(() => {
      if (calls() === 1) failApi(503, 3)
    })
    const call = client('records', { retry, hooks: { beforeRetry: [beforeRetry] } })
    expect((await failure(call)).response?.statusCode).toBe(503)
    expect([calls(), beforeRetry.mock.calls.length]).toEqual([4, 3])
  })

  test("does not count in what the caller's `calculateDelay` is told", async () => {
    await revoke(tokens)
    const told: unknown[] = []
    const beforeRetry = vi.fn(() => {
      if (calls() === 1) failApi(503, 3)
    })
    const calculateDelay: NonNullable<Options['retry']['calculateDelay']> = ({
      attemptCount,
      retryOptions,
    }) => {
      told.push([attemptCount, retryOptions.limit, retryOptions.calculateDelay === calculateDelay])
      return attemptCount > 2 ? 0 : 1
    }
    const own = { limit: 5, calculateDelay }
    const error = await failure(client('records', { retry: own, hooks: { beforeRetry: [beforeRetry] } }))
    expect(error.response?.statusCode).toBe(503)
    expect(told).toEqual([
      [1, 5, true],
      [2, 5, true],
      [3, 5, true],
    ])
  })

  test('comes again after a retry that dropped the hooks', async () => {
    await revoke(tokens)
    let first = true
    const afterResponse = (response: Response, again: (options: object) => never): Response => {
      if (!first) return response
      first = false
      sandbox.control.revokeTokens('weblink')
      return again({})
    }
    expect((await client('records', { hooks: { afterResponse: [afterResponse] } })).statusCode).toBe(200)
    expect(calls()).toBe(4)
  })

  const form = new FormData()
  form.set('a', 'b')
  const bodies: [string, object, object][] = [
    ['string', { body: bytes.toString() }, { sha256 }],
    ['Buffer', { body: bytes }, { sha256 }],
    ['Uint8Array', { body: new Uint8Array(bytes) }, { sha256 }],
    ['json', { json: { a: 1 } }, { length: 7, contentType: 'application/json' }],
    ['form', { form: { a: 'b' } }, { length: 3 }],
    ['FormData', { body: form }, { contentType: expect.stringContaining('multipart/form-data') }],
  ]
  test.each(bodies)('re-sends a body of type %s as it was', async (_, body, seen) => {
    await revoke(tokens)
    const headers = { 'X-Request-Id': '7' }
    const answer = await client.patch('echo', { ...body, headers }).json()
    expect(answer).toMatchObject({ method: 'PATCH', ...seen, headers: { 'x-request-id': '7' } })
    expect(calls()).toBe(2)
  })

  const readOnce: [string, () => NonNullable<StreamOptions['body']>][] = [
    ['Node stream', () => Readable.from([bytes])],
    ['web stream', () => new Blob([bytes]).stream()],
    ['generator', () => [bytes].values()],
  ]
  test.each(readOnce)('surfaces at once for a %s', async (_, body) => {
    await revoke(tokens)
    const { response } = await failure(client.post('echo', { body: body() }))
    expect([response?.statusCode, calls()]).toEqual([401, 1])
    expect(await client.post('echo', { body: body() }).json()).toMatchObject({ sha256 })
  })
})

test('a call that says resend: false keeps its 401, and the next one has a new token', async () => {
  await revoke(tokens)
  const context = { tokenlane: { resend: false } }
  expect((await failure(client('records', { context }))).response?.statusCode).toBe(401)
  expect(calls()).toBe(1)
  expect((await client('records', { context })).statusCode).toBe(200)
})
