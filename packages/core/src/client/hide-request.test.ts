import { once } from 'node:events'
import { Agent, createServer, type ClientRequest, request as send, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { hideRequest, hidingAgent } from './hide-request.ts'

const token = 'token-that-nobody-may-see'
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

const requestBy = (through: Agent): ClientRequest => {
  const { port } = server.address() as AddressInfo
  return send({ host: '127.0.0.1', port, agent: through, headers: { authorization: `Bearer ${token}` } })
}
const print = (value: unknown): string => inspect(value, { depth: Infinity, maxArrayLength: null })

test('a request prints as [request] from then on, and its connection as [socket]', async () => {
  for (let call = 0; call < 2; call += 1) {
    const request = requestBy(agent)
    hideRequest(request)
    expect([inspect({ request }), JSON.stringify({ request })]).toEqual([
      '{ request: [request] }',
      '{"request":"[request]"}',
    ])
    const [response] = (await once(request.end(), 'response')) as [{ socket: object; resume(): void }]
    const { socket } = response
    expect([inspect({ socket }), JSON.stringify({ socket })]).toEqual([
      '{ socket: [socket] }',
      '{"socket":"[socket]"}',
    ])
    expect(print([response, agent])).not.toContain(token)
    response.resume()
    await once(request, 'close')
  }
})

test('a request tells a logger its headers without the token, and still sends it', async () => {
  const request = requestBy(agent)
  request.setHeader('x-own', '1')
  hideRequest(request)
  const got = once(server, 'request') as Promise<[{ headers: { authorization?: string } }]>
  const response = once(request.end(), 'response') as Promise<[{ resume(): void }]>
  expect((await got)[0].headers.authorization).toBe(`Bearer ${token}`)
  expect(request.getHeaders()).toMatchObject({ 'x-own': '1' })
  expect(JSON.stringify(request.getHeaders())).not.toContain(token)
  ;(await response)[0].resume()
})

test('a request that was sent already is hidden with its connection', async () => {
  const request = requestBy(agent).end()
  const [response] = (await once(request, 'response')) as [{ resume(): void }]
  expect(print([response, agent])).toContain(token)
  hideRequest(request)
  expect(print([response, agent])).not.toContain(token)
  response.resume()
})

test('an agent for one call hides its request at once, and leaves the given one as it is', async () => {
  const before = Reflect.ownKeys(agent)
  const request = requestBy(hidingAgent(agent))
  expect(inspect({ request })).toBe('{ request: [request] }')
  request.end()
  const [response] = (await once(request, 'response')) as [{ resume(): void }]
  response.resume()
  await once(request, 'close')
  expect(Reflect.ownKeys(agent)).toEqual(before)
  expect(Object.values(agent.freeSockets)).toHaveLength(1)
})

test.each([undefined, null, false, 'text', {}])('%j is left alone', (value) => {
  expect(hidingAgent(value)).toBe(value)
  expect(() => hideRequest(value)).not.toThrow()
})
