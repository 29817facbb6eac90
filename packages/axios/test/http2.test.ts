// axios over HTTP/2 (`httpVersion: 2`), on a server whose connections end as they should not.
import { once } from 'node:events'
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'

import { printed } from '@tokenlane/conformance/every-error'
import { openService } from '@tokenlane/testing'
import type { TokenManager } from '@tokenlane/core'
import axios, { type AxiosInstance } from 'axios'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { attachTokens } from '../src/index.ts'

const { createManager, tokenRequests } = await openService()

type OnStream = (stream: ServerHttp2Stream, session: ServerHttp2Session) => void

let server: Http2Server
let answer: OnStream
let seen: (string | undefined)[]
let tokens: TokenManager
let client: AxiosInstance
let baseURL: string
const sessions = new Set<ServerHttp2Session>()

beforeEach(async () => {
  seen = []
  server = createServer()
  server.on('session', (session) => {
    sessions.add(session.on('error', () => {}))
    session.once('close', () => sessions.delete(session))
  })
  server.on('stream', (stream, headers) => {
    seen.push(headers.authorization)
    answer(
      stream.on('error', () => {}),
      stream.session as ServerHttp2Session,
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const ratePolicy = { limits: [], concurrency: 1 }
  tokens = createManager({ apis: [{ baseUrl: baseURL, issuer: 'weblink', ratePolicy }] })
  client = axios.create({ baseURL, httpVersion: 2 })
  attachTokens(client, tokens)
})
afterEach(async () => {
  // a call that is over holds no slot: this ends
  await tokens.close()
  for (const session of sessions) session.destroy()
  server.close()
})

const respond =
  (status: number): OnStream =>
  (stream) => {
    stream.respond({ ':status': status, 'content-type': 'application/json' })
    stream.end('{}')
  }

const ends: [string, OnStream][] = [
  ['is destroyed with an error', (_, session) => session.destroy(new Error('broken'))],
  ['goes away with an error', (_, session) => session.goaway(2)],
]
const silentEnds: [string, OnStream][] = [
  ['is destroyed', (_, session) => session.destroy()],
  ['is reset without an error', (stream) => stream.close(0)],
]

test('a call has the token, and a 401 renews it once and sends once more', async () => {
  const statuses = [401, 200]
  answer = (stream, session) => respond(statuses.shift() ?? 200)(stream, session)
  expect((await client.get('records')).status).toBe(200)
  expect(seen).toHaveLength(2)
  expect(new Set(seen).size).toBe(2)
  expect(tokenRequests()).toBe(2)
})

test.each(ends)(
  'a connection that %s before the response ends the call, and no print of its error shows the token',
  async (_, end) => {
    const { value } = await tokens.getToken('weblink')
    answer = end
    const error: unknown = await client.get('records').catch((failure: unknown) => failure)
    expect(error).toMatchObject({ code: 'ERR_HTTP2_SESSION_ERROR' })
    expect(printed(error)).not.toContain(value)
    answer = respond(200)
    expect((await client.get('records')).status).toBe(200)
  },
)

describe.each(silentEnds)(
  'a connection that %s before the response, which axios does not notice',
  (_, end) => {
    test.each(['alone', 'with tokens'])('leaves the call to its signal: axios %s', async (how) => {
      const { value } = await tokens.getToken('weblink')
      const given = how === 'alone' ? axios.create({ baseURL, httpVersion: 2 }) : client
      const controller = new AbortController()
      const closed = new Promise<void>((resolve) => {
        answer = (stream, session) => {
          stream.once('close', () => resolve())
          end(stream, session)
        }
      })
      const settled = vi.fn<() => void>()
      const failure = given.get('records', { signal: controller.signal, timeout: 60_000 }).then(
        () => expect.fail('the call succeeded'),
        (error: unknown) => {
          settled()
          return error
        },
      )
      await closed
      expect(settled).not.toHaveBeenCalled()
      controller.abort()
      const error = await failure
      expect(axios.isCancel(error)).toBe(true)
      expect(printed(error)).not.toContain(value)
      expect(tokens.status().apis[0]).toMatchObject({ running: 0, queued: 0 })
    })
  },
)

test.each([
  ['a response', respond(200)],
  ['the error of a status', respond(500)],
  ['the error of an abort', (): void => {}],
])('%s prints no token of a call under way on the same connection', async (_, end) => {
  await using manager = createManager({ apis: [{ baseUrl: baseURL, issuer: 'weblink' }] })
  const other = axios.create({ baseURL, httpVersion: 2, timeout: 60_000 })
  attachTokens(other, manager)
  const { value } = await manager.getToken('weblink')
  const controller = new AbortController()
  const arrived = new Promise<void>((resolve) => (answer = () => resolve()))
  const underWay = other.get('records', { signal: controller.signal }).catch(() => 'over')
  await arrived
  answer = end
  const outcome: unknown = await other
    .get('records', { signal: AbortSignal.timeout(100) })
    .catch((error: unknown) => error)
  const { request } = outcome as { request?: unknown }
  expect(printed([outcome, request])).not.toContain(value)
  controller.abort()
  expect(await underWay).toBe('over')
})
