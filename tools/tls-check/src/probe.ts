// Run as a process of its own, which allows TLS 1.0: calls servers of all TLS versions with every client, with
// Tokenlane and without, and prints what came of it.
import tls from 'node:tls'

import { createTokenManager, isTokenlaneError, type TokenManager } from '@tokenlane/core'

import { clients } from './clients.ts'
import { type TlsServers, type TlsVersion, tlsVersions } from './tls-servers.ts'

/** What a process found: `works`, or the code of the error. */
export interface Probe {
  readonly node: string
  readonly floor: string
  readonly rows: readonly { client: string; version: TlsVersion; bare: string; managed: string }[]
}

const { ca, urls, assign } = JSON.parse(process.argv[2] ?? '') as Pick<TlsServers, 'ca' | 'urls'> & {
  assign?: TlsVersion
}
tls.setDefaultCACertificates([ca])
if (assign) tls.DEFAULT_MIN_VERSION = assign

const rows: Probe['rows'][number][] = []
for (const version of tlsVersions) {
  const url = urls[version]
  rows.push({
    client: 'token request',
    version,
    bare: await outcome(fetch(url, { method: 'POST', body: 'a=b' }).then((response) => response.text())),
    managed: await outcome(managerOf(url).getToken('general')),
  })
  for (const [client, call] of Object.entries(clients)) {
    const bare = await outcome(call(url, undefined))
    const managed = await outcome(call(url, managerOf(urls['TLSv1.3'])))
    rows.push({ client, version, bare, managed })
  }
}
console.log(JSON.stringify({ node: process.version, floor: tls.DEFAULT_MIN_VERSION, rows } satisfies Probe))
process.exit()

function managerOf(issuerUrl: string): TokenManager {
  const credentials = { clientId: 'probe', clientSecret: 'secret-of-this-test' }
  return createTokenManager({
    issuers: { general: { tokenEndpoint: new URL('token', issuerUrl).href, credentials } },
    apis: tlsVersions.map((version) => ({ baseUrl: urls[version], issuer: 'general' })),
  })
}

async function outcome(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'works'
  } catch (error) {
    if (isTokenlaneError(error)) return error.code
    let code = 'an error'
    for (
      let inner = error as { code?: string; cause?: unknown } | undefined;
      inner;
      inner = inner.cause as never
    )
      code = inner.code ?? code
    return code
  }
}
