import { once } from 'node:events'
import { Agent } from 'node:http'
import { createSecureServer, type Http2SecureServer } from 'node:http2'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'

import { printed } from '@tokenlane/conformance/every-error'
import { AbortError, type OptionsInit, type RequestError } from 'got'
import { generate, type CertificateExtension } from 'selfsigned'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { bytes, client, controller, failure, managerFor, retry, tokens, use, useService } from './service.ts'

await useService()

test('a connection that breaks is an error of got, and its retry waits in line again', async () => {
  const server = createTcpServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const prefixUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
  await use(managerFor(prefixUrl))
  const error = await failure(client('a', { prefixUrl, retry }))
  expect([error.code, error.request?.retryCount]).toEqual(['ECONNRESET', 2])
  server.close()
})

test('a call that is given up while it connects prints no token with its error, at once', async () => {
  const prefixUrl = 'http://localhost:9/'
  await use(managerFor(prefixUrl), { prefixUrl, agent: { http: new Agent({ keepAlive: true }) } })
  const { value } = await tokens.getToken('weblink')
  const neverFound = (abort: AbortController): OptionsInit => ({
    signal: abort.signal,
    dnsLookup: () => void setImmediate(() => abort.abort()),
  })
  const printedOf = (error: unknown): string => printed([error, (error as RequestError).request])
  const promised = client('records', neverFound(controller)).catch(printedOf)
  expect(await promised).not.toContain(value)
  const stream = client.stream('records', neverFound(new AbortController()))
  const inStream = new Promise((resolve) => stream.once('error', (error) => resolve(printedOf(error))))
  stream.resume()
  expect(await inStream).not.toContain(value)
})

describe('over TLS of all kinds', () => {
  let prefixUrl: string
  let cert: string
  const seen: [version: string, authorization: string | undefined][] = []
  let server: Http2SecureServer

  beforeAll(async () => {
    const extensions: CertificateExtension[] = [
      { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
    ]
    const pems = await generate([{ name: 'commonName', value: 'localhost' }], { extensions })
    cert = pems.cert
    server = createSecureServer({ cert, key: pems.private, allowHTTP1: true }, (request, response) => {
      seen.push([request.httpVersion, request.headers.authorization])
      request.resume()
      if (request.url === '/401' && seen.length === 1) {
        response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' })
        response.end()
        return
      }
      response.setHeader('content-encoding', 'gzip')
      response.setHeader('cache-control', 'max-age=600')
      response.setHeader('vary', 'accept')
      response.end(gzipSync(bytes))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    prefixUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
  })
  afterAll(() => server.close())

  beforeEach(async () => {
    seen.length = 0
    await use(managerFor(prefixUrl), { prefixUrl, https: { certificateAuthority: cert } })
  })

  test.each([
    ['1.1', false],
    ['2.0', true],
  ])('HTTP/%s has the token, and renews it', async (version, http2) => {
    const response = await client.post('401', { json: { a: 1 }, http2 })
    expect(response.body).toBe(bytes.toString())
    expect(seen.map(([sent]) => sent)).toEqual([version, version])
    expect(seen[0]?.[1]).not.toBe(seen[1]?.[1])
    const stream = client.stream('a', { http2 })
    expect(Buffer.concat(await stream.toArray())).toEqual(bytes)
    for (const kept of [response, response.request, stream])
      for (const [, token = ''] of seen) {
        expect(token).toMatch(/^Bearer ./)
        expect(printed(kept)).not.toContain(token)
      }
  })

  test('HTTP/2 gives back the slot of a call that was aborted', async () => {
    const { signal } = controller
    const stream = client.stream('a', { http2: true, signal })
    await once(stream, 'response')
    controller.abort()
    expect((await once(stream, 'error'))[0]).toBeInstanceOf(AbortError)
  })

  test('a cache has no token, and keeps what came with one only where it is private', async () => {
    const cache = new Map()
    for (let call = 0; call < 2; call += 1) await client('a', { cache })
    expect([seen.length, cache.size]).toEqual([2, 0])
    const cacheOptions = { shared: false }
    for (let call = 0; call < 2; call += 1) await client('b', { cache, cacheOptions })
    expect(await client.stream('b', { cache, cacheOptions }).toArray()).not.toEqual([])
    expect([seen.length, cache.size]).toEqual([3, 1])
    for (const [, token] of seen) expect(token).toMatch(/^Bearer ./)
    expect(printed(cache)).not.toContain('Bearer')
  })
})
