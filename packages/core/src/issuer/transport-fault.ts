import { peerCertificate } from './peer-certificate.ts'
import { environmentProxy } from '../tls/proxy.ts'

/** Why a request got no response, in words that may be printed. */
export interface TransportFault {
  /** Goes on after `issuer "general" (https://…)`. */
  readonly reason: string
  /** Whether the other side allows no TLS version that we allow. */
  readonly tlsTooOld: boolean
  /** Whether another try fails in the same way until something is changed. */
  readonly definite: boolean
  /** Name, code, address and port only: a transport's own error may hold the request, and that holds the secret. */
  readonly cause: Error
}

/** The codes by which OpenSSL and BoringSSL say that the two sides allow no common TLS version. */
const tlsTooOld = /^ERR_SSL_(?:TLSV1_ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW)$/
/** The codes by which OpenSSL says that it knows no authority for the certificate. */
const unknownAuthority =
  /^(?:UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|CERT_UNTRUSTED)$/

/**
 * Returns what went wrong on the way to `url`.
 *
 * @param secrets What must not be printed, whatever an error holds.
 * @param ownFetch Whether the application's own `fetch` was asked, whose way to the issuer is unknown.
 */
export async function describeFault(
  error: unknown,
  url: URL,
  secrets: readonly string[],
  ownFetch: boolean,
): Promise<TransportFault> {
  const innermost = innermostOf(error, secrets)
  const cause = bareCause(error, innermost, secrets)
  const { code } = innermost
  if (code === undefined && isBlocked(error))
    return {
      reason: `could not be reached: \`fetch\` blocks port ${url.port || '443'} (WHATWG Fetch, "bad port"): is the URL right?`,
      tlsTooOld: false,
      definite: true,
      cause,
    }
  if (code === undefined) return { reason: 'could not be reached', tlsTooOld: false, definite: false, cause }
  if (tlsTooOld.test(code))
    return { reason: `offers no TLS 1.2 or later (${code})`, tlsTooOld: true, definite: true, cause }
  const certificate = await certificateFault(code, url, ownFetch)
  if (certificate !== undefined) return { reason: certificate, tlsTooOld: false, definite: true, cause }
  const way = wayOf(innermost, url, ownFetch)
  const hint = way === '' ? unusedProxy(url, ownFetch) : ''
  return { reason: `could not be reached${way} (${code})${hint}`, tlsTooOld: false, definite: false, cause }
}

/** Returns what to add to a failure on the way where a proxy is set that Node does not use. */
export function unusedProxy(url: URL, ownFetch: boolean): string {
  const proxy = ownFetch ? undefined : environmentProxy(url)
  if (proxy === undefined || proxy.used) return ''
  return `; ${proxy.variable} is set, and Node uses it only with NODE_USE_ENV_PROXY=1 (Node 22.21 or later)`
}

async function certificateFault(code: string, url: URL, ownFetch: boolean): Promise<string | undefined> {
  const late = code === 'CERT_HAS_EXPIRED'
  if (late || code === 'CERT_NOT_YET_VALID') {
    const hidden = ownFetch || environmentProxy(url)?.used === true
    const validity = hidden ? undefined : await peerCertificate(url)
    const date = validity && (late ? validity.until : validity.from).toISOString().slice(0, 10)
    const what = late
      ? `has expired${date ? ` on ${date}` : ''}`
      : `is not yet valid${date ? `, but from ${date} on` : ''}`
    const today = new Date().toISOString().slice(0, 10)
    return `shows a certificate that ${what} (${code}): is this machine's clock right, which says ${today}?`
  }
  if (unknownAuthority.test(code))
    return `shows a certificate of an authority that this process does not know (${code}): name its file in NODE_EXTRA_CA_CERTS`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `shows a certificate for another host (${code}): is the URL right?`
  return code.startsWith('CERT_') ? `shows a certificate that is not accepted (${code})` : undefined
}

/** What of an error may be printed. */
interface Innermost {
  readonly code?: string
  /** Where the connection went, `host` or `address:port`, if the error says so. */
  readonly place?: string
  /** The status of a proxy's response that did not open a tunnel. */
  readonly tunnelStatus?: string
}

/** Reads the innermost cause: its code, such as ECONNREFUSED, is what an operator searches for. */
function innermostOf(error: unknown, secrets: readonly string[]): Innermost {
  let found: Innermost = {}
  let inner: unknown = error
  for (let depth = 0; depth < 8 && typeof inner === 'object' && inner !== null; depth += 1) {
    const { code, message, cause, errors } = inner as Record<string, unknown>
    if (typeof code === 'string' && isWord(code, secrets))
      found = { code, ...placeOf(inner, secrets), ...tunnelStatusOf(message) }
    // one host of several addresses
    inner = cause ?? (Array.isArray(errors) ? (errors as unknown[])[0] : undefined)
  }
  return found
}

/** Whether `fetch` refused to connect to the port. Its error has no code. */
function isBlocked(error: unknown): boolean {
  const { cause } = (error ?? {}) as { readonly cause?: { readonly message?: unknown } }
  return cause?.message === 'bad port'
}

function placeOf(error: object, secrets: readonly string[]): Pick<Innermost, 'place'> {
  const { address, port, hostname } = error as Record<string, unknown>
  if (typeof hostname === 'string' && isWord(hostname, secrets)) return { place: hostname }
  if (typeof address !== 'string' || typeof port !== 'number' || !isWord(address, secrets)) return {}
  return { place: address.includes(':') ? `[${address}]:${port}` : `${address}:${port}` }
}

function tunnelStatusOf(message: unknown): Pick<Innermost, 'tunnelStatus'> {
  const [, tunnelStatus] = /^Proxy response \((\d{3})\)/.exec(String(message)) ?? []
  return tunnelStatus === undefined ? {} : { tunnelStatus }
}

/** Returns which proxy failed, so that the message does not blame the issuer. */
function wayOf({ place, tunnelStatus }: Innermost, url: URL, ownFetch: boolean): string {
  const proxy = ownFetch ? undefined : environmentProxy(url)
  const name = proxy?.used === true ? `the proxy ${proxy.place} of ${proxy.variable}` : 'a proxy'
  if (tunnelStatus !== undefined) return `: ${name} refused the connection with status ${tunnelStatus}`
  const own = place === undefined || place === url.hostname || place.endsWith(`:${url.port || '443'}`)
  if (!own) return `: the connection to ${place} failed, which is ${name}`
  return proxy?.used === true ? ` through ${name}` : ''
}

function bareCause(error: unknown, { code, place }: Innermost, secrets: readonly string[]): Error {
  const name = error instanceof Error && isWord(error.name, secrets) ? error.name : 'Error'
  const message = [code ?? 'unknown transport error', place].filter(Boolean).join(' ')
  return Object.assign(new Error(message), { name, ...(code && { code }) })
}

/** Whether text may be printed: an error of the application's own `fetch` may hold a secret in any field. */
function isWord(text: string, secrets: readonly string[]): boolean {
  return /^[\w.:-]{1,64}$/.test(text) && !secrets.some((secret) => text.includes(secret))
}
