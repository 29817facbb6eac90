import { once } from 'node:events'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type PeerCertificate, rootCertificates, type TLSSocket } from 'node:tls'

import { environmentProxy, printable } from '@tokenlane/core/adapter'

export type EnvironmentProxy = NonNullable<ReturnType<typeof environmentProxy>> & {
  /** Set if the variable names no scheme: axios then connects to the proxy by TLS, and Node does not start with it. */
  readonly hasNoScheme?: boolean
}

/** How far one way to a server got. */
export interface Reach {
  /** Code of the error that ended it, such as `ECONNREFUSED`; `undefined` if the server was reached. */
  readonly failure?: string
  /** Whether there was a connection to the server, by TCP or through a proxy's tunnel. */
  readonly isOpen?: boolean
  /** Status with which a proxy refused to open a tunnel. */
  readonly proxyStatus?: number
  readonly protocol?: string
  readonly certificateFailure?: string
  readonly certificate?: CertificateFacts
  /** How far this machine's clock is ahead of the server's, in milliseconds. */
  readonly clockOffset?: number
}

/** What the doctor saw of one server, on the way that the runtime's `fetch` takes. */
export interface ServerFacts extends Reach {
  readonly origin: string
  /** What it is, such as `issuer general` or `API https://api.example.com/`. */
  readonly roles: readonly string[]
  readonly proxy?: EnvironmentProxy
  /** The way through the proxy, if the runtime's `fetch` does not take it. */
  readonly throughProxy?: Reach
  /**
   * Set if the doctor used the application's own `fetch`, which `failure` and `clockOffset` are then about. `directly`
   * is the error code of a direct connection, `undefined` if that succeeded.
   */
  readonly throughFetch?: { readonly directly?: string }
}

export interface CertificateFacts {
  readonly subject: string
  /** Hosts that it is for, by its `subjectAltName`: the only names that count if there are any. */
  readonly hosts?: readonly string[]
  readonly authority: string
  readonly from: Date
  readonly until: Date
  /** Whether Node ships the certificate of the authority. */
  readonly isPublic: boolean
}

/** How long a server may take, in milliseconds. */
export const longest = 5_000

/**
 * Connects as the runtime's `fetch` would and returns how far the connection got. Sends neither credentials nor tokens.
 * With a proxy in the environment that `fetch` does not use, it also connects through that: axios does.
 *
 * @param askDate whether to send a HEAD request for `/` and read the `Date` header. Else only the connection is made.
 */
export async function lookAtServer(
  origin: string,
  roles: readonly string[],
  askDate: boolean,
): Promise<ServerFacts> {
  const url = new URL('/', origin)
  const proxy = proxyFor(url)
  const isUnused = proxy?.used === false
  const [seen, throughProxy] = await Promise.all([
    reach(url, isUnused ? undefined : proxy, askDate),
    isUnused ? reach(url, proxy, false) : undefined,
  ])
  return { origin, roles, ...seen, ...(proxy && { proxy }), ...(throughProxy && { throughProxy }) }
}

/** Returns the proxy of the environment. axios reads ALL_PROXY, too, and Node does not. */
function proxyFor(url: URL): EnvironmentProxy | undefined {
  const { env, execArgv, versions } = process
  const variable = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'].find((name) => env[name])
  if (variable === undefined) return undefined
  const hasNoScheme = !env[variable]?.includes('://')
  const named = { ...env, https_proxy: proxyUrl(variable) }
  const proxy = environmentProxy(url, { env: named, execArgv, versions })
  const used = proxy?.used === true && !/^all/i.test(variable)
  return proxy && { ...proxy, variable, used, ...(hasNoScheme && { hasNoScheme }) }
}

/** Returns the URL of a proxy. Without a scheme it has that of the server's URL, as for axios. */
function proxyUrl(variable: string): string {
  const text = process.env[variable] ?? ''
  return text.includes('://') ? text : `https://${text}`
}

async function reach(url: URL, proxy: EnvironmentProxy | undefined, askDate: boolean): Promise<Reach> {
  const signal = AbortSignal.timeout(longest)
  let socket: Socket | undefined
  let seen: Reach = {}
  try {
    socket = await (proxy ? openTunnel(url, proxy, signal) : openSocket(url, signal))
    socket.on('error', () => {})
    seen = { isOpen: true }
    if (url.protocol === 'https:') {
      const secured = openTls(url, socket)
      // destroys the one below it; Node 24 crashes if that is destroyed first
      socket = secured
      await once(secured, 'secureConnect', { signal })
      seen = { ...seen, ...tlsOf(secured) }
    }
    return askDate ? { ...seen, ...(await clockOf(url, socket, signal)) } : seen
  } catch (error) {
    // a server that accepts the connection may leave a HEAD request without a response
    return seen.protocol === undefined ? { ...seen, ...failureOf(error) } : seen
  } finally {
    socket?.destroy()
  }
}

function openTls(url: URL, socket: Socket): TLSSocket {
  const host = hostOf(url)
  const servername = isIP(host) ? '' : host
  // certificates that Node does not accept are read, too: this connection carries no secret
  return connectTls({ socket, host, servername, rejectUnauthorized: false }).on('error', () => {})
}

async function openSocket(url: URL, signal: AbortSignal): Promise<Socket> {
  const socket = connectTcp({ host: hostOf(url), port: portOf(url) })
  try {
    await once(socket, 'connect', { signal })
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** Has the proxy of the environment open a tunnel to the server (RFC 9110 §9.3.6). */
async function openTunnel(url: URL, { variable }: EnvironmentProxy, signal: AbortSignal): Promise<Socket> {
  const proxy = new URL(proxyUrl(variable))
  const target = `${url.hostname}:${portOf(url)}`
  const client = [proxy.username, proxy.password].map(decodeURIComponent).join(':')
  const authorization = client !== ':' && `Basic ${Buffer.from(client).toString('base64')}`
  const request = (proxy.protocol === 'https:' ? httpsRequest : httpRequest)({
    host: hostOf(proxy),
    port: portOf(proxy),
    method: 'CONNECT',
    path: target,
    headers: { host: target, ...(authorization && { 'proxy-authorization': authorization }) },
    // without the proxy of the environment, which an agent of Node may use
    agent: false,
    signal,
  })
  request.end()
  const [{ statusCode: status = 0 }, socket] = (await once(request, 'connect')) as [IncomingMessage, Socket]
  if (status >= 200 && status < 300) return socket
  socket.destroy()
  throw Object.assign(new Error('the proxy refused'), { code: 'ERR_PROXY_TUNNEL', status })
}

/** IPv6 addresses stand in brackets in a URL alone. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === 'https:' ? 443 : 80))
}

function tlsOf(socket: TLSSocket): Reach {
  const failure = socket.authorizationError as unknown as string | Error | null | undefined
  const code = failure instanceof Error ? failureOf(failure).failure : failure
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
    hosts: hostsIn(certificate.subjectaltname),
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
  return printable(String(subject?.CN ?? subject?.O ?? 'without a name'), 80)
}

/** Returns the hosts and addresses in a text of Node such as `DNS:a.example.com, IP Address:127.0.0.1`. */
function hostsIn(names = ''): string[] {
  return Array.from(names.matchAll(/(?:DNS|IP Address):([^,\s"]+)/g), ([, host = '']) => printable(host, 80))
}

async function clockOf(url: URL, socket: Socket, signal: AbortSignal): Promise<Reach> {
  const request = httpRequest(url.href.replace('https:', 'http:'), {
    method: 'HEAD',
    headers: { host: url.host, 'user-agent': 'tokenlane' },
    createConnection: () => socket,
    signal,
  })
  request.end()
  const [{ headers }] = (await once(request, 'response')) as [IncomingMessage]
  return clockOffsetBy(headers.date)
}

/** A `Date` header is exact to one second. */
export function clockOffsetBy(header: string | null | undefined): Pick<Reach, 'clockOffset'> {
  const date = Date.parse(header ?? '')
  return Number.isNaN(date) ? {} : { clockOffset: Date.now() - date }
}

interface Failure extends NodeJS.ErrnoException {
  readonly errors?: readonly NodeJS.ErrnoException[]
  readonly status?: number
}

function failureOf(error: unknown): Pick<Reach, 'failure' | 'proxyStatus'> {
  const { name, code = name, message, errors, status } = error as Failure
  if (name === 'AbortError') return { failure: 'ETIMEDOUT' }
  if (status !== undefined) return { failure: code, proxyStatus: status }
  // `EPROTO` stands for any OpenSSL error: only the message has the reason
  const isTooOld = code === 'EPROTO' && /protocol version|unsupported protocol/.test(message)
  return { failure: isTooOld ? 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' : (errors?.[0]?.code ?? code) }
}
