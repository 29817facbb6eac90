// An issuer and an API on loopback, in a process of their own, so that the clients' load does not delay the server.
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { generate } from 'selfsigned'

import { orderGiven } from '../support/child.ts'

export interface ServiceOrder {
  readonly scheme: 'http' | 'https'
}

export interface ServicePlace {
  readonly url: string
  /** The certificate to trust, PEM; `undefined` without TLS. */
  readonly ca?: string
}

const record = JSON.stringify({ id: 7, name: 'A business record', lines: [1, 2, 3], total: 42.5 })
const token = JSON.stringify({
  access_token: 'token-'.padEnd(200, 'x'),
  token_type: 'Bearer',
  expires_in: 3_600,
})

const answer: RequestListener = (request, response) => {
  request.resume().once('end', () => {
    response.setHeader('content-type', 'application/json')
    const isToken = request.url === '/token'
    // looked at for each call: Node makes the headers of a request only when they are read
    const { authorization } = request.headers
    // the first of a bare client's calls tells that it measures what it should
    response.statusCode = isToken || request.url?.startsWith('/open/') || authorization ? 200 : 401
    response.end(isToken ? token : record)
  })
}

async function start({ scheme }: ServiceOrder): Promise<void> {
  const certificate = scheme === 'https' ? await ownCertificate() : undefined
  const server: Server = certificate ? createTlsServer(certificate, answer) : createServer(answer)
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo
    const url = `${scheme}://127.0.0.1:${port}/`
    process.send?.({ url, ...(certificate && { ca: certificate.cert }) } satisfies ServicePlace)
  })
}

async function ownCertificate(): Promise<{ cert: string; key: string }> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
    ],
  })
  return { cert, key }
}

process.on('disconnect', () => process.exit())
await start(await orderGiven<ServiceOrder>())
