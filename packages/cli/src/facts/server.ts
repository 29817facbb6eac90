import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
} from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { type PeerCertificate, rootCertificates, TLSSocket } from 'node:tls'

import { environmentProxy, type EnvironmentProxy } from '@tokenlane/core/adapter'

/** What the doctor saw of one server. */
export interface ServerFacts {
  readonly origin: string
  /** What it is, such as `issuer general` or `API https://api.example.com/`. */
  readonly roles: readonly string[]
  /** Code of the error that prevented a connection or response, such as `ECONNREFUSED`. */
  readonly failure?: string
  /** TLS version that was agreed on. */
  readonly protocol?: string
  /** Why this process does not accept the certificate. */
  readonly certificateFailure?: string
  readonly certificate?: CertificateFacts
  /** How far this machine's clock is ahead of the server's, in milliseconds. */
  readonly clockOffset?: number
  readonly proxy?: EnvironmentProxy
  /**
   * Set if the doctor used the application's own `fetch`, which `failure` and `clockOffset` are then about. `directly`
   * is the error code of a direct connection, `undefined` if that succeeded.
   */
  readonly throughFetch?: { readonly directly?: string }
}

export interface CertificateFacts {
  readonly subject: string
  /** Name of the authority that signed it. */
  readonly authority: string
  readonly from: Date
  readonly until: Date
  /** Whether Node ships the certificate of the authority. */
  readonly isPublic: boolean
}

/** How long a server may take, in milliseconds. */
const longest = 5_000

/**
 * Connects as the runtime's `fetch` would and returns how far the connection got. Sends neither credentials nor tokens.
 *
 * @param askDate whether to send a HEAD request for `/` and read the `Date` header. Else only the connection is made.
 */
export async function lookAtServer(
  origin: string,
  roles: readonly string[],
  askDate: boolean,
): Promise<ServerFacts> {
  const url = new URL('/', origin)
  const proxy = environmentProxy(url)
  const seen = await connect(url, proxy?.used === true, askDate)
  return { origin, roles, ...seen, ...(proxy && { proxy }) }
}

type Seen = Omit<ServerFacts, 'origin' | 'roles' | 'proxy'>

async function connect(url: URL, throughProxy: boolean, askDate: boolean): Promise<Seen> {
  return new Promise((resolve) => {
    let seen: Seen = {}
    const request = open(url, throughProxy)
    const timer = setTimeout(
      () => request.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })),
      longest,
    )
    const end = (more: Seen = {}): void => {
      clearTimeout(timer)
      resolve({ ...seen, ...more })
      request.destroy()
    }
    request.on('error', (error: NodeJS.ErrnoException) =>
      end(seen.protocol ? {} : { failure: codeOf(error) }),
    )
    request.on('response', (response: IncomingMessage) => end(clockOf(response)))
    request.on('socket', (socket) => {
      const connected = (): void => {
        if (socket instanceof TLSSocket) seen = tlsOf(socket)
        if (!askDate) end()
      }
      const event = url.protocol === 'https:' ? 'secureConnect' : 'connect'
      if (socket.connecting || (socket instanceof TLSSocket && socket.getProtocol() === null))
        socket.once(event, connected)
      else connected()
    })
    // without `end` the request is not sent: only the connection is made
    if (askDate) request.end()
  })
}

function open(url: URL, throughProxy: boolean): ClientRequest {
  const proxyEnv = throughProxy ? process.env : undefined
  const headers = { 'user-agent': 'tokenlane' }
  if (url.protocol === 'http:') return httpRequest(url, { method: 'HEAD', headers, agent: new HttpAgent() })
  // certificates that Node does not accept are read, too: this connection carries no secret
  const agent = new Agent({ rejectUnauthorized: false, proxyEnv } as ConstructorParameters<typeof Agent>[0])
  return httpsRequest(url, { method: 'HEAD', headers, agent })
}

function tlsOf(socket: TLSSocket): Seen {
  const failure = socket.authorizationError as unknown as string | Error | null | undefined
  const code = failure instanceof Error ? codeOf(failure) : failure
  const protocol = socket.getProtocol() ?? 'unknown'
  const certificate = certificateOf(socket.getPeerCertificate(true))
  return { protocol, certificate, ...(code && { certificateFailure: code }) }
}

function certificateOf(
  certificate: PeerCertificate & { issuerCertificate?: PeerCertificate },
): CertificateFacts {
  let last: typeof certificate = certificate
  for (let depth = 0; depth < 8 && last.issuerCertificate && last.issuerCertificate !== last; depth += 1)
    last = last.issuerCertificate
  return {
    subject: nameOf(certificate.subject),
    authority: nameOf(last.issuer),
    from: new Date(certificate.valid_from),
    until: new Date(certificate.valid_to),
    isPublic: last.raw !== undefined && publicRoots().has(last.raw.toString('base64')),
  }
}

let roots: ReadonlySet<string> | undefined

function publicRoots(): ReadonlySet<string> {
  roots ??= new Set(rootCertificates.map((pem) => pem.replaceAll(/-----[^-]+-----|\s/g, '')))
  return roots
}

function nameOf(subject: PeerCertificate['subject'] | undefined): string {
  const name = subject?.CN ?? subject?.O ?? 'without a name'
  return String(name).slice(0, 80)
}

function clockOf({ headers }: IncomingMessage): Seen {
  const date = Date.parse(headers.date ?? '')
  // the `Date` header is exact to one second
  return Number.isNaN(date) ? {} : { clockOffset: Date.now() - date }
}

function codeOf(error: NodeJS.ErrnoException & { errors?: readonly NodeJS.ErrnoException[] }): string {
  const { code = error.errors?.[0]?.code ?? error.name, message } = error
  // `EPROTO` stands for any OpenSSL error: only the message has the reason
  return code === 'EPROTO' && /protocol version|unsupported protocol/.test(message)
    ? 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'
    : code
}
