// Run as a process of its own: calls servers of all TLS versions with every client, with Tokenlane and without, and
// prints what came of it.
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
const floor = tls.DEFAULT_MIN_VERSION

tls.DEFAULT_MIN_VERSION = assign ?? floor
const rows: Probe['rows'][number][] = []
for (const version of tlsVersions) {
  const url = urls[version]
  rows.push({
    client: 'token request',
    version,
    bare: await outcome(async () => (await fetch(url, { method: 'POST', body: 'a=b' })).text()),
    managed: await outcome(() => managerOf(url).getToken('general')),
  })
  for (const [client, call] of Object.entries(clients)) {
    const bare = await outcome(() => call(url, undefined))
    const managed = await outcome(() => call(url, managerOf(urls['TLSv1.3'])))
    rows.push({ client, version, bare, managed })
  }
}
console.log(JSON.stringify({ node: process.version, floor: tls.DEFAULT_MIN_VERSION, rows } satisfies Probe))
process.exit()

/** A manager, after whose creation the process allows what it is to allow. */
function managerOf(issuerUrl: string): TokenManager {
  tls.DEFAULT_MIN_VERSION = floor
  const credentials = { clientId: 'probe', clientSecret: 'secret-of-this-test' }
  const tokens = createTokenManager({
    issuers: { general: { tokenEndpoint: new URL('token', issuerUrl).href, credentials } },
    apis: tlsVersions.map((version) => ({ baseUrl: urls[version], issuer: 'general' as const })),
  })
  tls.DEFAULT_MIN_VERSION = assign ?? floor
  return tokens
}

async function outcome(call: () => Promise<unknown>): Promise<string> {
  try {
    await call()
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
