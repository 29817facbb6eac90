import { once } from 'node:events'
import { Agent, createServer, type ClientRequest, request as send, type Server } from 'node:http'
import { connect, createServer as createHttp2Server, type Http2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { forgetToken, hideToken, redactHeaders } from './hide-token.ts'

const token = 'token-that-nobody-may-see'
const headers = { Authorization: `Bearer ${token}` }

/** Everything that can be printed, hidden properties too, without asking any object how it wants to be printed. */
const dump = (value: unknown): string =>
  inspect(value, { depth: null, showHidden: true, customInspect: false, maxArrayLength: null })

let server: Server
let agent: Agent

beforeEach(async () => {
  server = createServer((_, response) => response.end('x')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  agent = new Agent({ keepAlive: true })
})

afterEach(() => {
  agent.destroy()
  server.close()
})

const requestTo = (port = (server.address() as AddressInfo).port): ClientRequest =>
  send({ host: '127.0.0.1', port, agent, headers: { ...headers } })

test('a request that was sent has the token nowhere, nor has its response or its agent', async () => {
  const request = requestTo().end()
  const [response] = (await once(request, 'response')) as [{ resume(): void }]
  response.resume()
  expect(dump(request)).toContain(token)
  forgetToken(request)
  forgetToken(request)
  for (const held of [request, response, agent]) expect(dump(held)).not.toContain(token)
  await once(request, 'close')
})

test('a request that was given up before it was connected has the token nowhere', async () => {
  const request = requestTo().end()
  const closed = new Promise((resolve) => request.on('close', resolve))
  request.on('error', () => {}).destroy()
  await closed
  forgetToken(request)
  expect(dump(request)).not.toContain(token)
})

test('a request that was refused has the token nowhere', async () => {
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  const request = requestTo(port).end()
  await once(request, 'error')
  forgetToken(request)
  expect(dump(request)).not.toContain(token)
})

test('a request in flight prints and serializes as [request]', async () => {
  const request = requestTo()
  hideToken(request)
  expect([inspect({ request }), JSON.stringify({ request })]).toEqual([
    '{ request: [request] }',
    '{"request":"[request]"}',
  ])
  request.end()
  const [response] = (await once(request, 'response')) as [{ resume(): void }]
  response.resume()
  await once(request, 'close')
})

test('only a request that opens a connection is watched until that has come', async () => {
  const watched: number[] = []
  for (let call = 0; call < 2; call += 1) {
    const request = requestTo()
    const before = request.listenerCount('socket')
    hideToken(request)
    watched.push(request.listenerCount('socket') - before)
    request.end()
    const [response] = (await once(request, 'response')) as [{ resume(): void }]
    response.resume()
    await once(request, 'close')
  }
  expect(watched).toEqual([1, 0])
})

test('a stream of HTTP/2 has the token nowhere', async () => {
  const http2: Http2Server = createHttp2Server((_, response) => void response.end('x')).listen(0, '127.0.0.1')
  await once(http2, 'listening')
  const session = connect(`http://127.0.0.1:${(http2.address() as AddressInfo).port}`)
  const stream = session.request({ ...headers })
  await once(stream.resume().end(), 'end')
  expect(inspect(stream.sentHeaders)).toContain(token)
  forgetToken(stream)
  expect(dump(stream)).not.toContain(token)
  session.close()
  http2.close()
})

test.each([undefined, null, 'text', {}, { _header: undefined }])('%j is left alone', (request) => {
  expect(() => forgetToken(request)).not.toThrow()
})

test.each([
  [
    { authorization: 'a', b: 'c' },
    { authorization: '[redacted]', b: 'c' },
  ],
  [{ Authorization: 'a' }, { Authorization: '[redacted]' }],
  [{ authorization: ['Authorization', 'a'] }, { authorization: ['Authorization', '[redacted]'] }],
])('of %j only the token is taken', (sent, left) => {
  redactHeaders(sent)
  expect(sent).toEqual(left)
})
