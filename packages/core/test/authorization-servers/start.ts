import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import tls from 'node:tls'
import { generate } from 'selfsigned'
import { afterAll, beforeAll } from 'vitest'
import type { Registration, ServerData } from './oidc-provider.ts'

/** A pair of PEM texts. */
interface Pair {
  readonly key: string
  readonly cert: string
}

/** An oidc-provider for the tests of a file. */
export interface TestServer {
  /** Its issuer identifier; there once the tests begin. */
  readonly issuer: string
  /** Replaces all clients, and where it is given the path of the token endpoint. */
  register(clients: Registration['clients'], tokenPath?: string): Promise<void>
  /** Makes a client certificate, of the authority that the server trusts or of none. */
  certificate(subject: string, trusted?: boolean): Promise<Pair>
}

/** Starts a server over TLS before the tests of a file, and makes this process trust it. */
export function useOidcProvider(): TestServer {
  let child: ChildProcess
  let authority: Pair
  const trusted = tls.getCACertificates()
  const used = {
    issuer: '',
    async register(clients: Registration['clients'], tokenPath = '/token') {
      const registered = once(child, 'message')
      child.send({ clients, tokenPath } satisfies Registration)
      await registered
    },
    async certificate(subject: string, isTrusted = true) {
      const ca = isTrusted ? authority : undefined
      const pair = await generate([{ name: 'commonName', value: subject }], { ...curve, ...(ca && { ca }) })
      return { key: pair.private, cert: pair.cert }
    },
  }
  beforeAll(async () => {
    const ca = await generate([{ name: 'commonName', value: 'CA of the tests' }], {
      ...curve,
      extensions: [{ name: 'basicConstraints', cA: true, critical: true }],
    })
    authority = { key: ca.private, cert: ca.cert }
    const { key, cert } = await used.certificate('localhost')
    tls.setDefaultCACertificates([...trusted, ca.cert])
    child = fork(new URL('oidc-provider.ts', import.meta.url))
    child.send({ key, cert, ca: ca.cert } satisfies ServerData)
    ;[used.issuer] = (await once(child, 'message')) as [string]
  }, 60_000)
  afterAll(() => {
    tls.setDefaultCACertificates(trusted)
    child.kill()
  })
  return used
}

const curve = { keyType: 'ec', algorithm: 'sha256' } as const
