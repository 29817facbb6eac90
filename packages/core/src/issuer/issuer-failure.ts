import { TokenlaneError, type TokenlaneErrorCode, type TokenlaneErrorDetails } from '../errors.ts'
import { printable } from '../foreign-text.ts'
import { causesOf } from '../runtime/causes.ts'
import { permissionFault } from '../runtime/permission.ts'
import { environmentProxy } from '../tls/proxy.ts'
import { isWord, quotesAny } from './issuer-words.ts'
import type { IssuerRequest } from './protocol.ts'

/** Returns the error of a request to an issuer; `reason` goes on after its name and URL, without the query. */
export function failure(
  { issuer, url }: Pick<IssuerRequest, 'issuer' | 'url'>,
  code: TokenlaneErrorCode,
  reason: string,
  details?: TokenlaneErrorDetails,
): TokenlaneError {
  // metadata may name any URL
  const endpoint = printable(url.origin + url.pathname)
  const message = `Cannot obtain token: issuer "${printable(issuer)}" (${endpoint}) ${reason}`
  return new TokenlaneError(code, message, { issuer, ...details })
}

/** Codes of OpenSSL and BoringSSL: no common TLS version. */
const tlsTooOld = /^ERR_SSL_.*(?:PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW)$/
/** Codes of OpenSSL: an unknown authority signed the certificate. */
const unknownAuthority = /ISSUER_CERT|LEAF_SIGNATURE|SELF_SIGNED_CERT|CERT_UNTRUSTED/
/** What codes of a failed connection say about the URL. */
const wrongUrl = [
  [/^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/, 'this port does not speak TLS'],
  [/^ENOTFOUND$/, 'DNS has no such host'],
  [/^ECONNREFUSED$/, 'nothing listens at this port'],
] as const
/** Codes of a connection that the other side closed. */
const cut = /^(?:ECONNRESET|UND_ERR_SOCKET)$/

/** Codes of a response that cannot be read: its compression (zlib), or its HTTP/1.1 (llhttp, undici). */
const unreadable = /^(?:Z_|ERR_(?:BROTLI|ZLIB|PADDING|_ERROR)|HPE_|UND_ERR_(?:HEADERS_OVERFLOW|RES_))/

export function transportFailure(request: IssuerRequest, error: unknown): TokenlaneError {
  const found = innermostOf(error, request.secrets)
  const { code } = found
  const details = { cause: bareCause(error, found, request.secrets), transportCode: code }
  const failed = (reason: string, definite?: true, kind: TokenlaneErrorCode = 'TOKEN_REQUEST_FAILED') =>
    failure(request, kind, reason, { ...details, definite })
  const denied = permissionFault(error)
  if (denied !== undefined) return failed(`was not asked: ${denied}`, true)
  const refusal = mockRefusal(error, request.secrets)
  if (refusal !== undefined)
    return failed(
      `was not asked: a mock lets no request through${refusal}; mock the token endpoint too`,
      true,
    )
  const { cause } = (error ?? {}) as {
    readonly cause?: { readonly name?: unknown; readonly message?: unknown }
  }
  if (code === undefined && cause?.message === 'bad port')
    return failed(`could not be reached: \`fetch\` blocks port ${request.url.port}`, true)
  if (code === undefined)
    // undici's parser has no code for the first line
    return failed(
      cause?.name === 'HTTPParserError'
        ? 'sent a response that is not HTTP/1.1'
        : `could not be reached (${details.cause.name})`,
    )
  if (tlsTooOld.test(code))
    return failed(`does not support TLS 1.2 or later (${code})`, true, 'INSECURE_TRANSPORT')
  const certificate = certificateFault(code)
  if (certificate !== undefined) return failed(`presented a certificate ${certificate}`, true)
  const way = wayOf(found, request)
  const hint = way === '' ? unusedProxy(request) : ''
  const isCut = way === '' && cut.test(code)
  const sent = unreadable.test(code) ? 'sent a response that cannot be read' : `could not be reached${way}`
  const what = isCut ? 'closed the connection before it responded' : sent
  const fault = way === '' && hint === '' ? wrongUrl.find(([codes]) => codes.test(code)) : undefined
  const url = fault ? `: ${fault[1]}, check the URL` : ''
  return failed(`${what} (${code})${url}${hint}`)
}

/** Returns the proxy of the environment; the application's own `fetch` may use any. */
const proxyOf = ({ url, fetch }: IssuerRequest) => (fetch ? undefined : environmentProxy(url))

/** Returns a hint for a failed connection if a proxy is set that Node does not use. */
export function unusedProxy(request: IssuerRequest): string {
  const proxy = proxyOf(request)
  if (proxy === undefined || proxy.used) return ''
  const prefix = proxy.place === '' ? ', and with `http://` in front' : ''
  return `; ${proxy.variable} is set, but Node uses it only with NODE_USE_ENV_PROXY=1 (Node 22.21 or later)${prefix}`
}

function certificateFault(code: string): string | undefined {
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    const what = code === 'CERT_HAS_EXPIRED' ? 'has expired' : 'is not yet valid'
    const today = new Date().toISOString().slice(0, 10)
    return `that ${what} (${code}): is this machine's clock (${today}) right?`
  }
  if (unknownAuthority.test(code))
    return `from an untrusted CA (${code}): set NODE_EXTRA_CA_CERTS to the CA file`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `for another host (${code}): is the URL right?`
  return code.startsWith('CERT_') ? `that is not accepted (${code})` : undefined
}

/** What of a transport's error may be printed. */
interface Innermost {
  readonly code?: string
  /** Where the connection went, `host` or `address:port`, if the error says so. */
  readonly peer?: string | undefined
  /** The status of a proxy's response that did not open a tunnel. */
  readonly tunnelStatus?: string | undefined
}

/** Reads the innermost cause: its code, such as ECONNREFUSED, is what an operator searches for. */
function innermostOf(error: unknown, secrets: readonly string[]): Innermost {
  let found: Innermost = {}
  for (const inner of causesOf(error)) {
    const { code, message } = inner
    const [, tunnelStatus] = /^Proxy response \((\d{3})\)/.exec(String(message)) ?? []
    // `EPROTO` stands for any error of OpenSSL
    const [, openSsl] = (code === 'EPROTO' && /:SSL routines:[^:]*:([\w/ ]+):/.exec(String(message))) || []
    const name = openSsl ? `ERR_SSL_${openSsl.replaceAll(' ', '_').toUpperCase()}` : code
    if (isWord(name, secrets)) found = { code: name, peer: peerOf(inner, secrets), tunnelStatus }
  }
  return found
}

function peerOf(
  { address, port, hostname }: Readonly<Record<string, unknown>>,
  secrets: readonly string[],
): string | undefined {
  if (isWord(hostname, secrets)) return hostname
  if (!isWord(address, secrets) || typeof port !== 'number') return undefined
  return `${address.includes(':') ? `[${address}]` : address}:${port}`
}

/** Returns which proxy failed, so that the message does not blame the issuer. */
function wayOf({ peer, tunnelStatus }: Innermost, request: IssuerRequest): string {
  const { url } = request
  const proxy = proxyOf(request)
  const used = proxy?.used === true ? `the proxy ${proxy.place} from ${proxy.variable}` : undefined
  if (tunnelStatus !== undefined)
    return `: ${used ?? 'a proxy'} refused the connection with status ${tunnelStatus}`
  const own = peer === undefined || peer === url.hostname || peer.endsWith(`:${url.port || '443'}`)
  if (!own) return `: no connection to ${used ?? `${peer}, which is a proxy`}`
  return used ? ` through ${used}` : ''
}

/** Name, code and peer only: a transport's own error may hold the request, and that holds the secret. */
function bareCause(error: unknown, { code, peer }: Innermost, secrets: readonly string[]): Error {
  const { name } = (error ?? {}) as { readonly name?: unknown }
  const message = [code, peer].filter(Boolean).join(' ')
  return Object.assign(new Error(message), {
    name: isWord(name, secrets) ? name : 'Error',
    ...(code && { code }),
  })
}

/** The codes by which undici's MockAgent and nock say that nothing answers a request. */
const mockCode = /^(?:UND_MOCK_ERR_|ERR_NOCK_)/
const mockText = /^(?:Nock: |\[MSW\] )/

/**
 * Returns the message of a mocking library that refuses a request: no later try can mend that. `undefined` for any other
 * error.
 */
function mockRefusal(error: unknown, secrets: readonly string[]): string | undefined {
  for (const { code, name, message } of causesOf(error)) {
    const text = String(message)
    if (mockCode.test(String(code)) || name === 'NetConnectNotAllowedError' || mockText.test(text)) {
      // what follows is the request, with its headers and its body
      const [said = ''] = text.split(/ (?=for (?:body|headers) )|[{\n]/)
      return quotesAny(said, secrets) ? '' : `, "${printable(said)}"`
    }
  }
  return undefined
}
