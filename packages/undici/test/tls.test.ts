import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'

import type { TokenManager } from '@tokenlane/core'
import { openService } from '@tokenlane/testing'
import { generate } from 'selfsigned'
import * as undici7 from 'undici'
import * as undici8 from 'undici-8'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { tokensInterceptor } from '../src/index.ts'

const { createManager } = await openService()
const floor = tls.DEFAULT_MIN_VERSION
const old = { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const

let server: Server
let url: string
let tokens: TokenManager
let requests = 0

beforeAll(async () => {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
  })
  server = createServer({ cert, key, ...old, maxVersion: 'TLSv1.1' }, (_, response) => {
    requests += 1
    response.end('ok')
  })
  await once(server.listen(0, 'localhost'), 'listening')
  url = `https://localhost:${(server.address() as AddressInfo).port}/`
})
afterAll(() => server.close())
beforeEach(() => {
  requests = 0
  tokens = createManager({ apis: [{ baseUrl: url, issuer: 'weblink' }] })
})
afterEach(async () => {
  tls.DEFAULT_MIN_VERSION = floor
  await tokens.close()
})

const insecure = { code: 'INSECURE_TRANSPORT' }

describe.each([
  { version: 7, undici: undici7 },
  { version: 8, undici: undici8 as unknown as typeof undici7 },
])('undici $version', ({ undici }) => {
  const { Agent, getGlobalDispatcher, request, setGlobalDispatcher } = undici
  const lax = (): undici7.Agent => new Agent({ connect: { ...old, rejectUnauthorized: false } })

  test('a connection of TLS 1.1 is refused before the request is written, and one without tokens is not', async () => {
    const agent = lax()
    const dispatcher = agent.compose(tokensInterceptor(tokens))
    await expect(request(url, { dispatcher })).rejects.toMatchObject({
      ...insecure,
      message: expect.stringContaining('TLSv1.1'),
    })
    expect(requests).toBe(0)
    await (await request(url, { dispatcher: agent })).body.dump()
    expect(requests).toBe(1)
  })

  test('a connection of TLS 1.1 of the global dispatcher is refused, too', async () => {
    const before = getGlobalDispatcher()
    setGlobalDispatcher(lax().compose(tokensInterceptor(tokens)))
    await expect(request(url)).rejects.toMatchObject({
      ...insecure,
      message: expect.stringContaining('TLSv1.1'),
    })
    setGlobalDispatcher(before)
    expect(requests).toBe(0)
  })

  test('a process that allows TLS 1.0 is refused', async () => {
    const dispatcher = new Agent().compose(tokensInterceptor(tokens))
    tls.DEFAULT_MIN_VERSION = 'TLSv1'
    await expect(request(url, { dispatcher })).rejects.toMatchObject({
      ...insecure,
      message: expect.stringContaining('this process'),
    })
  })
})
