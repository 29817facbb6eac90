import { once } from 'node:events'
import { createSecureServer, type Http2SecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'

import { generate } from 'selfsigned'

/** Old versions need old algorithms too. */
export const oldCiphers = 'DEFAULT@SECLEVEL=0'

export const tlsVersions = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const
export type TlsVersion = (typeof tlsVersions)[number]

/** Where the servers are, and what to trust. */
export interface TlsServers extends AsyncDisposable {
  readonly ca: string
  readonly urls: Record<TlsVersion, string>
}

/** Starts one server for each TLS version, which speaks that one only. Each is an issuer and an API. */
export async function startTlsServers(): Promise<TlsServers> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
    ],
  })
  const servers: Http2SecureServer[] = []
  const start = async (version: TlsVersion): Promise<string> => {
    const pinned = { minVersion: version, maxVersion: version, ciphers: oldCiphers }
    const server = createSecureServer({ cert, key, allowHTTP1: true, ...pinned }, (request, response) => {
      request.resume()
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({ access_token: 'token-of-this-test', token_type: 'Bearer', expires_in: 3600 }),
      )
    })
    servers.push(server)
    await once(server.listen(0, 'localhost'), 'listening')
    return `https://localhost:${(server.address() as AddressInfo).port}/`
  }
  const urls = Object.fromEntries(
    await Promise.all(tlsVersions.map(async (version) => [version, await start(version)])),
  ) as TlsServers['urls']
  return {
    ca: cert,
    urls,
    async [Symbol.asyncDispose]() {
      for (const server of servers) server.close()
    },
  }
}
