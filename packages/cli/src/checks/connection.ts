import { finding, type Finding, type FindingId } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'
import type { EnvironmentProxy, Reach, ServerFacts } from '../facts/server.ts'
import { isCertificateRefused, methodOf, ownCertificate } from './client-certificate.ts'
import { groupsBy } from './groups.ts'

/**
 * Finds servers that cannot be reached or do not offer safe TLS; distinguishes DNS, TCP, proxy and TLS version. Servers
 * that fail in the same way share a finding.
 */
export function checkConnections(facts: Facts): Finding[] {
  const { servers, axios } = facts
  const failed = servers.filter(
    (server) => server.failure !== undefined && !isRefusedToDoctorAlone(server, facts),
  )
  const faults = groupsBy(failed, ({ failure, proxyStatus, isOpen, proxy, throughFetch }) => [
    failure,
    proxyStatus,
    isOpen,
    proxy,
    throughFetch,
  ]).map((group) => {
    const [first] = group as readonly [ServerFacts]
    return (first.throughFetch ? ownFetch : findingOf)(first, originsOf(group), rolesOf(group))
  })
  return [...faults, ...(axios === undefined ? [] : ofAxios(servers, axios))]
}

export function originsOf(servers: readonly ServerFacts[]): string {
  return servers.map(({ origin }) => origin).join(', ')
}

function rolesOf(servers: readonly ServerFacts[]): string {
  return servers.flatMap(({ roles }) => roles).join(', ')
}

const tlsTooOld = /PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW/
/** The codes of TLS alerts, by which a server refuses a handshake. */
const refusedHandshake = /_ALERT_|UNRECOGNIZED_NAME/
/** The codes of a host that DNS does not know. */
export const unknownHost: ReadonlySet<string> = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_NODATA',
  'EAI_NONAME',
])

function findingOf(server: ServerFacts, origins: string, roles: string): Finding {
  const { failure: code = '', isOpen = false, proxy, throughProxy } = server
  const found = (id: FindingId, seen: string, fix: string, subject = origins): Finding =>
    finding(id, 'error', subject, { seen, why: `Requests to ${roles} fail.`, fix })
  if (tlsTooOld.test(code))
    return found(
      'tls-too-old',
      `The server does not support TLS 1.2 or later (${code}). Tokenlane sends no secret below TLS 1.2.`,
      'Ask its operator for TLS 1.2 or later. Check that nothing in between intercepts TLS.',
    )
  if (isOpen && refusedHandshake.test(code))
    return found(
      'connection-failed',
      `The server refused the TLS handshake (${code}).`,
      `Check the host name in the URL. Ask its operator whether it wants a client certificate (for an issuer, \`tls_client_auth\`) or other ciphers. ${ownCertificate}`,
    )
  if (isOpen)
    return code === 'ETIMEDOUT'
      ? found(
          'no-response',
          'It accepts the connection, then sends nothing for 5 s.',
          'Check the port in the URL. If it is right, the server hangs, or there is nothing behind its load balancer: tell its operator.',
        )
      : found(
          'connection-failed',
          `It accepts the connection, but TLS failed (${code}).`,
          'Check the port in the URL. If it is right, a firewall drops the connection, or the port does not speak TLS.',
        )
  if (proxy?.used === true) {
    const { place, variable } = proxy
    return found(
      server.proxyStatus === 407 ? 'proxy-password' : 'proxy-failed',
      `Could not connect through the proxy ${place} (${variable}) to ${origins}: ${codeOf(server)}.`,
      proxyFix(proxy, server.proxyStatus),
      `proxy ${place}`,
    )
  }
  // without a scheme it cannot be known whether the proxy works
  if (proxy !== undefined && (proxy.hasNoScheme || throughProxy?.failure === undefined))
    return found(
      'proxy-unused',
      `The direct connection failed (${code}). ${proxy.variable} is set to the proxy ${proxy.place}, but Node does not use it.`,
      `Set ${valueFor(proxy)}NODE_USE_ENV_PROXY=1 (Node 22.21 or later).`,
    )
  const also = throughProxy
    ? ` The connection through the proxy ${proxy?.place} (${proxy?.variable}) failed too: ${codeOf(throughProxy)}.`
    : ''
  const check =
    proxy && throughProxy
      ? `If this network needs a proxy, set ${nameFor(proxy)} to one that works, and NODE_USE_ENV_PROXY=1. Otherwise check`
      : 'Check'
  if (unknownHost.has(code))
    return found(
      'host-unknown',
      `DNS has no address for ${origins} (${code}).${also}`,
      `${check} the URL's spelling, and the DNS settings of this machine or its VPN.`,
    )
  if (code === 'ECONNREFUSED')
    return found(
      'connection-refused',
      `The port refuses connections (${code}).${also}`,
      `${check} the port in the URL. If it is right, the server is down, or a firewall refuses the connection.`,
    )
  return found(
    'connection-failed',
    `The connection failed (${code}).${also}`,
    'The cause is usually a firewall, or a proxy that has to be used: ask for this host and port to be opened, or set HTTPS_PROXY and NODE_USE_ENV_PROXY=1.',
  )
}

/** The doctor's own connections present no client certificate, and the token requests of `tls_client_auth` do. */
export function isRefusedToDoctorAlone({ failure = '', roles }: ServerFacts, facts: Facts): boolean {
  return (
    refusedHandshake.test(failure) &&
    facts.tokens.some(
      (token) =>
        roles.includes(`issuer ${token.issuer}`) &&
        ((token.lifetime ?? token.failure?.status) !== undefined ||
          isCertificateRefused(token.failure, methodOf(token.issuer, facts))),
    )
  )
}

/** Returns the variable that Node reads: it does not know ALL_PROXY. */
function nameFor({ variable }: Pick<EnvironmentProxy, 'variable'>): string {
  return /^all/i.test(variable) ? 'HTTPS_PROXY' : variable
}

/** Returns how the variable has to change before Node can use the proxy. */
function valueFor({ variable, hasNoScheme }: EnvironmentProxy): string {
  const name = nameFor({ variable })
  if (hasNoScheme)
    return `${name} to the same value with http:// in front (Node does not start without it), and `
  return name === variable ? '' : `${name} to the same value, and `
}

function proxyFix({ place, variable }: EnvironmentProxy, status: number | undefined): string {
  if (status === undefined)
    return `Check ${variable}, and that the proxy is running. List hosts that need no proxy in NO_PROXY.`
  if (status === 407)
    return `Set ${variable} to http://user:password@${place}, with the proxy's user name and password, each percent-encoded.`
  return status < 500
    ? "Ask the proxy's operator to allow this host and port, or list the host in NO_PROXY."
    : 'The proxy cannot reach the server: check the URL. List hosts that need no proxy in NO_PROXY.'
}

function codeOf({ failure, proxyStatus }: Reach): string {
  return proxyStatus === undefined ? String(failure) : `the proxy responded with status ${proxyStatus}`
}

/** Finds APIs that Node reaches, and axios does not: it uses the proxy of the environment by itself. */
function ofAxios(servers: readonly ServerFacts[], use: NonNullable<Facts['axios']>): Finding[] {
  const failed = servers.filter(
    ({ failure, throughProxy, roles }) =>
      failure === undefined &&
      throughProxy?.failure !== undefined &&
      roles.some((role) => role.startsWith('API ')),
  )
  return groupsBy(failed, ({ throughProxy, proxy }) => [throughProxy, proxy]).map((group) => {
    const [{ proxy, throughProxy }] = group as readonly [ServerFacts]
    const { place = '', variable = '', hasNoScheme } = proxy ?? {}
    const scheme = hasNoScheme ? ` ${variable} names no scheme, so axios assumes https:.` : ''
    return finding('proxy-failed', use === 'exported' ? 'error' : 'warning', `axios calls, proxy ${place}`, {
      seen: `axios reads ${variable} itself, and cannot reach ${originsOf(group)} through its proxy ${place} (${codeOf(throughProxy ?? {})}). Everything else connects directly.${scheme}`,
      why: 'Every axios call to these servers fails, although token requests and other clients work.',
      fix: `${hasNoScheme ? `Set ${variable} to http://${place}, unset it` : `Correct or unset ${variable}`}, list the hosts in NO_PROXY, or create the client with \`proxy: false\`.`,
    })
  })
}

const isCertificateCode = /CERT|UNABLE_TO_|SELF_SIGNED/

/** Returns the finding for an application's `fetch` that fails; it says whether a direct connection works. */
function ownFetch(
  { failure: code = '', throughFetch }: ServerFacts,
  origins: string,
  roles: string,
): Finding {
  const { directly } = throughFetch ?? {}
  return finding('own-fetch-failed', 'error', origins, {
    seen: `The application's \`fetch\` cannot reach it (${code}). A direct connection ${directly === undefined ? 'works' : `also fails (${directly})`}.`,
    why: `Token requests to ${roles} use the \`fetch\` option: without a token, no call is sent.`,
    fix: isCertificateCode.test(code)
      ? 'Give its dispatcher or agent the CA (`ca`), or set NODE_EXTRA_CA_CERTS to the CA file and restart.'
      : `Check the proxy, dispatcher or agent of this \`fetch\`${directly === undefined ? ', or remove the option' : ', and the URL'}.`,
  })
}
