import { once } from 'node:events'
import { createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'

import { fakeTokens } from '@tokenlane/core/testing'
import { generate } from 'selfsigned'
import * as undici7 from 'undici'
import * as undici8 from 'undici-8'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { tokensInterceptor } from '../src/index.ts'

let server: Http2SecureServer
let origin: string
let answer: (stream: ServerHttp2Stream, path: string, number: number) => void
let seen: string[]
let sessions: number

beforeAll(async () => {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
  })
  server = createSecureServer({ cert, key })
  server.on('session', () => (sessions += 1))
  server.on('stream', (stream, headers) => {
    const { ':method': method, ':path': path = '', authorization } = headers
    answer(stream, path, seen.push(`${method} ${path} ${authorization}`))
  })
  await once(server.listen(0, 'localhost'), 'listening')
  origin = `https://localhost:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

describe.each([
  { version: 7, undici: undici7 },
  // their types do not fit each other
  { version: 8, undici: undici8 as unknown as typeof undici7 },
])('undici $version over HTTP/2', ({ undici }) => {
  let agent: undici7.Agent
  let dispatcher: undici7.Dispatcher

  beforeEach(() => {
    seen = []
    sessions = 0
    agent = new undici.Agent({ allowH2: true, connect: { rejectUnauthorized: false } })
    dispatcher = agent.compose(tokensInterceptor(fakeTokens({ apis: [`${origin}/api/`] })))
  })
  afterEach(() => agent.destroy())

  async function call(path: string, options: object = {}): Promise<[number, string]> {
    const { statusCode, body } = await undici.request(origin + path, { dispatcher, ...options })
    return [statusCode, await body.text()]
  }

  test('calls of one session have the token, and those outside the API have none', async () => {
    answer = (stream, path) => {
      stream.respond({ ':status': 200 })
      stream.end(path)
    }
    await call('/api/first')
    const paths = ['/api/a', '/api/b', '/outside', '/api/c']
    expect(await Promise.all(paths.map((path) => call(path)))).toEqual(paths.map((path) => [200, path]))
    expect(seen.slice(1).toSorted()).toEqual([
      'GET /api/a Bearer test-token',
      'GET /api/b Bearer test-token',
      'GET /api/c Bearer test-token',
      'GET /outside undefined',
    ])
  })

  test('a body arrives again after a 401, with a new token in the same session', async () => {
    const bodies: string[] = []
    answer = (stream, _, number) => {
      let body = ''
      stream.on('data', (chunk) => (body += String(chunk)))
      stream.on('end', () => {
        bodies.push(body)
        stream.respond({
          ':status': number === 1 ? 401 : 200,
          'www-authenticate': 'Bearer error="invalid_token"',
        })
        stream.end('ok')
      })
    }
    expect(await call('/api/a', { method: 'POST', body: 'sent' })).toEqual([200, 'ok'])
    expect(seen).toEqual(['POST /api/a Bearer test-token', 'POST /api/a Bearer test-token-2'])
    expect([bodies, sessions]).toEqual([['sent', 'sent'], 1])
  })

  test('trailers, and the error of a stream that the server resets, are those of undici alone', async () => {
    answer = (stream, path) => {
      stream.on('error', () => {})
      if (path.endsWith('reset')) return stream.close(2)
      stream.respond({ ':status': 200 }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '7' }))
      stream.end('ok')
    }
    const told = async (through: undici7.Dispatcher): Promise<unknown[]> => {
      const { body, trailers } = await undici.request(`${origin}/api/a`, { dispatcher: through })
      const text = await body.text()
      const failure = await call('/api/reset', { dispatcher: through }).catch((error: Error) => error)
      return [text, { ...trailers }, String(failure)]
    }
    expect(await told(dispatcher)).toEqual(await told(agent))
  })
})
