import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { inspect } from 'node:util'
import { createBrotliCompress, createGzip } from 'node:zlib'
import { beforeEach, expect, test } from 'vitest'
import { createTokenManager, type TokenlaneEvent } from '../../src/index.ts'
import { useServer } from '../use-server.ts'

// A real server, since only a real transport unpacks, redirects and takes its time.

let answer: (response: ServerResponse, path: string) => unknown
let paths: string[]
const server = useServer((request, response) => {
  const { url: path = '' } = request
  paths.push(path)
  request.resume().on('end', () => answer(response, path))
})
beforeEach(() => {
  paths = []
})

const secret = 'secret-that-nobody-may-see'

/** How the first token request of a call fails; the call gives up then, and was never sent. */
async function firstFailure(requestTimeout = 60_000): Promise<string> {
  const caller = new AbortController()
  const events: TokenlaneEvent[] = []
  const tokens = createTokenManager({
    issuers: {
      general: {
        tokenEndpoint: `${server.url}/token`,
        credentials: { clientId: 'client-1', clientSecret: secret },
        allowInsecureLoopback: true,
        requestTimeout,
        maxWait: 120_000,
      },
    },
    apis: [{ baseUrl: `${server.url}/api/`, issuer: 'general' }],
    observe(event) {
      events.push(event)
      caller.abort()
    },
  })
  const call = tokens
    .route(`${server.url}/api/records`)
    ?.send(() => expect.unreachable('sent without a token'), { signal: caller.signal })
  const error = await call?.catch((reason: unknown) => reason)
  await tokens.close()
  expect(inspect([error, events, tokens.status()], { depth: 12, showHidden: true })).not.toContain(secret)
  const [event] = events
  return event?.type === 'renewal.failed' ? event.code : inspect([error, event])
}

const asJson = { 'content-type': 'application/json' }
const zeros = Buffer.alloc(65_536)
function* endless(): Generator<Buffer> {
  for (;;) yield zeros
}

test.each([
  ['as it is', undefined, () => Readable.from(endless())],
  ['once it is unpacked by gzip', 'gzip', () => Readable.from(endless()).pipe(createGzip())],
  ['once it is unpacked by Brotli', 'br', () => Readable.from(endless()).pipe(createBrotliCompress())],
])('an answer without end, %s, is cut off, and its connection ended', async (_, encoding, body) => {
  const ended = Promise.withResolvers<void>()
  answer = (response) => {
    response.writeHead(200, { ...asJson, ...(encoding && { 'content-encoding': encoding }) })
    const bytes = body()
    bytes.pipe(response)
    response.once('close', () => {
      bytes.destroy()
      ended.resolve()
    })
  }
  await expect(firstFailure()).resolves.toBe('TOKEN_RESPONSE_INVALID')
  await ended.promise
})

test.each([
  ['never comes', () => {}],
  [
    'has a body that never comes',
    (response: ServerResponse) => response.writeHead(200, asJson).flushHeaders(),
  ],
  [
    'comes byte by byte',
    (response: ServerResponse) => {
      response.writeHead(200, asJson)
      const drip = setInterval(() => response.write(' '), 5)
      response.once('close', () => clearInterval(drip))
    },
  ],
])('an answer that %s ends with the time for it', async (_, slowly) => {
  answer = slowly
  await expect(firstFailure(100)).resolves.toBe('TOKEN_REQUEST_TIMEOUT')
})

test.each([300, 301, 302, 303, 304, 305, 307, 308, 399])(
  'a redirect by %i is not followed: the secret goes to one place',
  async (status) => {
    answer = (response) =>
      response.writeHead(status, { ...asJson, location: `${server.url}/elsewhere` }).end()
    await expect(firstFailure()).resolves.toBe('TOKEN_RESPONSE_INVALID')
    expect(new Set(paths)).toEqual(new Set(['/token']))
  },
)

const token = (access_token: unknown, more = {}): string =>
  JSON.stringify({ access_token, token_type: 'Bearer', expires_in: 60, ...more })

test.each([
  ['a line break', token('a\r\nX-Admin: true')],
  ['a line feed', token('a\nb')],
  ['a zero byte', token('a\0b')],
  ['a space', token('a b')],
  ['a character that no header field holds', token('a\u{1F600}b')],
  ['no text', token({ toString: 'x' })],
  ['nothing but an array', '[]'],
  ['nothing', 'null'],
  ['what looks like a prototype', '{"__proto__":{"access_token":"a","token_type":"Bearer","expires_in":60}}'],
  ['half a million brackets', '['.repeat(500_000)],
  ['half a million objects', '{"a":'.repeat(100_000)],
])('a token answer with %s is refused', async (_, body) => {
  answer = (response) => response.writeHead(200, asJson).end(body)
  await expect(firstFailure()).resolves.toBe('TOKEN_RESPONSE_INVALID')
})

test('an answer with members of a prototype changes no other object', async () => {
  answer = (response, path) =>
    path === '/token' &&
    response
      .writeHead(200, asJson)
      .end(
        '{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}},"access_token":"a","token_type":"Bearer","expires_in":60}',
      )
  await expect(firstFailure()).resolves.toContain('token.renewed')
  expect(({} as { x?: unknown }).x).toBeUndefined()
})
