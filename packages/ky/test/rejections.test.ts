import { Readable } from 'node:stream'

import { HTTPError, type Options } from 'ky'
import { describe, expect, test, vi } from 'vitest'

import {
  sandbox,
  weblink,
  calls,
  tokenRequests,
  revoke,
  tokens,
  client,
  type Body,
  type Fetch,
  bytes,
  sha256,
  admitted,
  failure,
  answering,
  useService,
} from './support.ts'

await useService()

describe('a 401', () => {
  test('renews once and sends once more, with no retry of ky', async () => {
    await revoke(tokens)
    expect((await client(weblink('records'), { retry: 0 })).status).toBe(200)
    expect([calls(), tokenRequests(), admitted()]).toEqual([2, 1, 2])
  })

  test("is the caller's the second time, as an HTTPError or as it is", async () => {
    const error = await failure(client(weblink('status/401')))
    expect(error).toBeInstanceOf(HTTPError)
    expect(error).toMatchObject({ response: { status: 401 } })
    expect(calls()).toBe(2)
    expect((await client(weblink('status/401'), { throwHttpErrors: false })).status).toBe(401)
  })

  test("leaves ky's own retries alone", async () => {
    const { seen, fetch } = answering(401, 503, 200)
    const retry = { limit: 1, delay: () => 1 }
    expect((await client(weblink('records'), { fetch, retry })).status).toBe(200)
    expect(seen[0]).not.toBe(seen[1])
    expect(seen[2]).toBe(seen[1])
    expect(admitted()).toBe(3)
  })

  const bodies: [string, () => Body][] = [
    ['string', () => 'héllo wörld'],
    ['ArrayBuffer', () => bytes.slice().buffer],
    ['Uint8Array', () => bytes],
    ['Buffer', () => Buffer.from(bytes)],
    ['Blob', () => new Blob([bytes])],
  ]
  describe.each(bodies)('re-sends a body of type %s as it was', (_, body) => {
    test.each([
      [false, 0],
      [false, 2],
      [true, 0],
      [true, 2],
    ])('in a Request: %s, with a retry limit of %i', async (inRequest, retry) => {
      await revoke(tokens)
      const options = { method: 'PATCH', body: body(), headers: { 'X-Request-Id': '7' } }
      const response = await (inRequest
        ? client(new Request(weblink('echo'), options), { retry })
        : client(weblink('echo'), { ...options, retry }))
      const echo = await response.json<{ headers: Record<string, string> }>()
      expect(echo).toMatchObject({ method: 'PATCH', sha256, length: bytes.length })
      expect(echo.headers).toMatchObject({ 'x-request-id': '7', 'content-length': `${bytes.length}` })
      expect(calls()).toBe(2)
    })
  })

  const multipart = new FormData()
  multipart.set('a', new Blob([bytes]), 'a.txt')
  const bodiesOfOptions: [string, Options, object][] = [
    ['an object', { json: { a: 1 } }, { length: 7, contentType: 'application/json' }],
    [
      'URLSearchParams',
      { body: new URLSearchParams({ a: 'b c' }) },
      { length: 5, contentType: 'application/x-www-form-urlencoded;charset=UTF-8' },
    ],
    ['a form', { body: multipart }, { contentType: expect.stringContaining('multipart/form-data') }],
  ]
  test.each(bodiesOfOptions)('re-sends %s', async (_, options, expected) => {
    await revoke(tokens)
    expect(await client.post(weblink('echo'), options).json()).toMatchObject(expected)
    expect(calls()).toBe(2)
  })

  test.each([
    ['text', 'a=b'],
    ['JSON', { a: 1 }],
    ['URLSearchParams', new URLSearchParams('a=b')],
  ])(
    'has a body of %s at hand without a look at the first request, which Deno would send chunked',
    async (_, body) => {
      await revoke(tokens)
      const look = vi.spyOn(Request.prototype, 'body', 'get')
      const looks: number[] = []
      const fetch: Fetch = (request, init) => {
        looks.push(look.mock.calls.length)
        return globalThis.fetch(request, init)
      }
      const sent = body.constructor === Object ? { json: body } : { body: body as Body }
      expect((await client.post(weblink('echo'), { ...sent, fetch })).status).toBe(200)
      look.mockRestore()
      expect([looks[0], calls()]).toEqual([0, 2])
    },
  )

  test('re-sends a body whose progress is watched', async () => {
    await revoke(tokens)
    const onUploadProgress = vi.fn<NonNullable<Options['onUploadProgress']>>()
    const body = 'x'.repeat(200_000)
    expect(await client.post(weblink('echo'), { body, onUploadProgress }).json()).toMatchObject({
      length: body.length,
    })
    expect(onUploadProgress.mock.lastCall?.[0]).toMatchObject({
      percent: 1,
      transferredBytes: body.length,
    })
    expect(calls()).toBe(2)
  })

  const streams: [string, () => Body][] = [
    ['ReadableStream', () => new Blob([bytes]).stream() as Body],
    ['Readable', () => Readable.from([bytes])],
    [
      'async generator',
      () =>
        (async function* generate() {
          yield bytes
        })(),
    ],
  ]
  test.each(streams)('surfaces at once for a body of type %s', async (_, body) => {
    await revoke(tokens)
    const send = () => client.post(weblink('echo'), { body: body(), throwHttpErrors: false })
    expect((await send()).status).toBe(401)
    expect(calls()).toBe(1)
    expect(await send().json()).toMatchObject({ sha256 })
  })
})

describe('a 429', () => {
  test('pauses the API, and the call goes again', async () => {
    sandbox.control.failApi('weblink', { status: 429, retryAfter: 0, times: 3 })
    expect((await client.post(weblink('echo'), { body: 'x' })).status).toBe(200)
    expect(calls()).toBe(4)
  })

  test("is the caller's the fourth time", async () => {
    sandbox.control.failApi('weblink', { status: 429, retryAfter: 0 })
    await expect(client(weblink('records'))).rejects.toMatchObject({ response: { status: 429 } })
    expect(calls()).toBe(4)
  })
})
