import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'
import { generate } from 'selfsigned'
import { afterAll, beforeAll } from 'vitest'
import type { Registration, ServerData } from './oidc-provider.ts'

/** A pair of PEM texts. */
interface Pair {
  readonly key: string
  readonly cert: string
}

/** An authority for the tests of a file. */
interface Authority {
  /** Its certificate; there once the tests begin. */
  readonly ca: string
  /** Makes a certificate, of this authority or of none. */
  certificate(subject: string, trusted?: boolean): Promise<Pair>
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
  const authority = useAuthority()
  const used = {
    issuer: '',
    async register(clients: Registration['clients'], tokenPath = '/token') {
      const registered = once(child, 'message')
      child.send({ clients, tokenPath } satisfies Registration)
      await registered
    },
    certificate: authority.certificate,
  }
  beforeAll(async () => {
    child = fork(new URL('oidc-provider.ts', import.meta.url))
    const data: ServerData = { ...(await authority.certificate('localhost')), ca: authority.ca }
    child.send(data)
    ;[used.issuer] = (await once(child, 'message')) as [string]
  }, 60_000)
  afterAll(() => void child.kill())
  return used
}

/**
 * An HTTPS server on loopback for the tests of a group, which this process trusts; its `url` is there once they begin.
 *
 * @param options `requestCert` refuses clients without a certificate of the authority.
 */
export function useTlsServer(
  listener: RequestListener,
  options: { readonly requestCert?: boolean } = {},
): Pick<Authority, 'certificate'> & { readonly url: string } {
  const authority = useAuthority()
  const used = { url: '', certificate: authority.certificate }
  let server: Server
  beforeAll(async () => {
    const pair = await authority.certificate('localhost')
    server = createServer({ ...options, ...pair, ca: authority.ca }, listener).listen(0, '127.0.0.1')
    await once(server, 'listening')
    used.url = `https://localhost:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return used
}

/** Makes this process trust an authority of its own while the tests of a file or group run. */
function useAuthority(): Authority {
  const trusted = tls.getCACertificates()
  let authority: Pair
  const used = {
    ca: '',
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
    used.ca = ca.cert
    tls.setDefaultCACertificates([...trusted, ca.cert])
  })
  afterAll(() => tls.setDefaultCACertificates(trusted))
  return used
}

const curve = { keyType: 'ec', algorithm: 'sha256' } as const
