import { type Check, groupsBy, row, table, together } from './finding.ts'
import type { Facts } from '../facts/facts.ts'
import type { EnvironmentProxy, Reach, ServerFacts } from '../facts/server.ts'
import { isCertificateRefused, methodOf, ownCertificate } from './client-certificate.ts'

interface Fault extends ServerFacts {
  readonly code: string
  readonly origins: string
  readonly servers: string
  /** What is known of a way through the proxy that failed too, and what to look at first then. */
  readonly also: string
  readonly check: string
}

/** Finds servers that cannot be reached or do not offer safe TLS; distinguishes DNS, TCP, proxy and TLS version. */
const checkServers: Check = table({
  cases: (facts): Fault[] =>
    groupsBy(
      facts.servers.filter(
        (server) => server.failure !== undefined && !isRefusedToDoctorAlone(server, facts),
      ),
      ({ failure, proxyStatus, isOpen, proxy, throughFetch }) => [
        failure,
        proxyStatus,
        isOpen,
        proxy,
        throughFetch,
      ],
    ).map((group) => {
      const [first] = group as readonly [ServerFacts]
      const { proxy, throughProxy, failure: code = '' } = first
      const [also, check] =
        proxy && throughProxy
          ? [
              ` The connection through the proxy ${proxy.place} (${proxy.variable}) failed too: ${codeOf(throughProxy)}.`,
              `If this network needs a proxy, set ${nameFor(proxy)} to one that works, and NODE_USE_ENV_PROXY=1. Otherwise check`,
            ]
          : ['', 'Check']
      const servers = group.flatMap(({ roles }) => roles).join(', ')
      return Object.assign({ code, origins: originsOf(group), servers, also, check }, first)
    }),
  subject: ({ origins }) => origins,
  why: ({ servers }) => `Requests to ${servers} fail.`,
  rows: [
    {
      id: 'own-fetch-failed',
      when: ({ throughFetch }) => throughFetch !== undefined,
      seen: ({ code, throughFetch: { directly } = {} }) =>
        `The application's \`fetch\` cannot reach it (${code}). A direct connection ${directly === undefined ? 'works' : `also fails (${directly})`}.`,
      why: ({ servers }) =>
        `Token requests to ${servers} use the \`fetch\` option: without a token, no call is sent.`,
      fix: ({ code, throughFetch: { directly } = {} }) =>
        isCertificateCode.test(code)
          ? 'Give its dispatcher or agent the CA (`ca`), or set NODE_EXTRA_CA_CERTS to the CA file and restart.'
          : `Check the proxy, dispatcher or agent of this \`fetch\`${directly === undefined ? ', or remove the option' : ', and the URL'}.`,
    },
    {
      id: 'tls-too-old',
      when: ({ code }) => tlsTooOld.test(code),
      seen: ({ code }) =>
        `The server does not support TLS 1.2 or later (${code}). Tokenlane sends no secret below TLS 1.2.`,
      fix: 'Ask its operator for TLS 1.2 or later. Check that nothing in between intercepts TLS.',
    },
    {
      id: 'connection-failed',
      when: ({ code, isOpen }) => isOpen === true && refusedHandshake.test(code),
      seen: ({ code }) => `The server refused the TLS handshake (${code}).`,
      fix: `Check the host name in the URL. Ask its operator whether it wants a client certificate (for an issuer, \`tls_client_auth\`) or other ciphers. ${ownCertificate}`,
    },
    {
      id: 'no-response',
      when: ({ code, isOpen }) => isOpen === true && code === 'ETIMEDOUT',
      seen: 'It accepts the connection, then sends nothing for 5 s.',
      fix: 'Check the port in the URL. If it is right, the server hangs, or there is nothing behind its load balancer: tell its operator.',
    },
    {
      id: 'connection-failed',
      when: ({ isOpen }) => isOpen === true,
      seen: ({ code }) => `It accepts the connection, but TLS failed (${code}).`,
      fix: 'Check the port in the URL. If it is right, a firewall drops the connection, or the port does not speak TLS.',
    },
    {
      id: ({ proxyStatus }) => (proxyStatus === 407 ? 'proxy-password' : 'proxy-failed'),
      when: ({ proxy }) => proxy?.used === true,
      subject: ({ proxy }) => `proxy ${proxy?.place}`,
      seen: ({ proxy, origins, ...reach }) =>
        `Could not connect through the proxy ${proxy?.place} (${proxy?.variable}) to ${origins}: ${codeOf(reach)}.`,
      fix: ({ proxy, proxyStatus }) => proxyFix(proxy as EnvironmentProxy, proxyStatus),
    },
    {
      // without a scheme it cannot be known whether the proxy works
      id: 'proxy-unused',
      when: ({ proxy, throughProxy }) =>
        proxy !== undefined && (proxy.hasNoScheme || throughProxy?.failure === undefined),
      seen: ({ code, proxy }) =>
        `The direct connection failed (${code}). ${proxy?.variable} is set to the proxy ${proxy?.place}, but Node does not use it.`,
      fix: ({ proxy }) =>
        `Set ${valueFor(proxy as EnvironmentProxy)}NODE_USE_ENV_PROXY=1 (Node 22.21 or later).`,
    },
    {
      id: 'host-unknown',
      when: ({ code }) => unknownHost.has(code),
      seen: ({ code, origins, also }) => `DNS has no address for ${origins} (${code}).${also}`,
      fix: ({ check }) => `${check} the URL's spelling, and the DNS settings of this machine or its VPN.`,
    },
    {
      id: 'connection-refused',
      when: ({ code }) => code === 'ECONNREFUSED',
      seen: ({ code, also }) => `The port refuses connections (${code}).${also}`,
      fix: ({ check }) =>
        `${check} the port in the URL. If it is right, the server is down, or a firewall refuses the connection.`,
    },
    {
      id: 'connection-failed',
      seen: ({ code, also }) => `The connection failed (${code}).${also}`,
      fix: 'The cause is usually a firewall, or a proxy that has to be used: ask for this host and port to be opened, or set HTTPS_PROXY and NODE_USE_ENV_PROXY=1.',
    },
  ],
})

/** Finds APIs that Node reaches, and axios does not: it uses the proxy of the environment by itself. */
const checkAxiosProxy: Check = row({
  cases: ({ servers, axios }) =>
    groupsBy(
      servers.filter(
        ({ failure, throughProxy, roles }) =>
          axios !== undefined &&
          failure === undefined &&
          throughProxy?.failure !== undefined &&
          roles.some((role) => role.startsWith('API ')),
      ),
      ({ throughProxy, proxy }) => [throughProxy, proxy],
    ).map((group) => {
      const [{ proxy, throughProxy = {} }] = group as readonly [ServerFacts]
      const { place = '', variable = '', hasNoScheme } = proxy ?? {}
      return { axios, place, variable, hasNoScheme, origins: originsOf(group), code: codeOf(throughProxy) }
    }),
  subject: ({ place }) => `axios calls, proxy ${place}`,
  id: 'proxy-failed',
  severity: ({ axios }) => (axios === 'exported' ? 'error' : 'warning'),
  seen: ({ variable, place, origins, code, hasNoScheme }) =>
    `axios reads ${variable} itself, and cannot reach ${origins} through its proxy ${place} (${code}). Everything else connects directly.${hasNoScheme ? ` ${variable} names no scheme, so axios assumes https:.` : ''}`,
  why: 'Every axios call to these servers fails, although token requests and other clients work.',
  fix: ({ variable, place, hasNoScheme }) =>
    `${hasNoScheme ? `Set ${variable} to http://${place}, unset it` : `Correct or unset ${variable}`}, list the hosts in NO_PROXY, or create the client with \`proxy: false\`.`,
})

export const checkConnections: Check = together(checkServers, checkAxiosProxy)

export function originsOf(servers: readonly ServerFacts[]): string {
  return servers.map(({ origin }) => origin).join(', ')
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

const isCertificateCode = /CERT|UNABLE_TO_|SELF_SIGNED/
