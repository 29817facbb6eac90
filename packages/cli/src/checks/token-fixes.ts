import { placeOf } from '../credential-variables.ts'
import { listed } from './finding.ts'
import { guide } from '../guide.ts'
import type { TokenFacts, TokenFailure } from '../facts/token.ts'
import { refusedFix, unsentFix } from './assertion.ts'
import { isCertificateRefused, refusedCertificateFix } from './client-certificate.ts'
import { inWords } from './clock.ts'

export interface Failed {
  readonly issuer: string
  readonly failure: TokenFailure
  readonly option: string
  readonly method: string
  readonly readFrom: string
  readonly url: URL
  readonly token: TokenFacts
  /** What is said of a client certificate that has expired; '' otherwise. */
  readonly expired: string
  /** What to do first about the credentials' variables in the `--env-file`; '' if nothing is wrong with them. */
  readonly fileFix: string
}

/** What nginx responds with to a client without a certificate that it accepts, with a page. */
export const certificateStatuses: ReadonlySet<number> = new Set([400, 495, 496])

/** The first of the issuers with a fault, the options of all, and all. */
type FixFor = (first: Failed, options: string, group: readonly Failed[]) => string

export type TokenFault =
  | 'wrong-secret'
  | 'wrong-key'
  | 'credentials-missing'
  | 'assertion-not-sent'
  | 'assertion-refused'
  | 'request-refused'
  | 'host-unknown'
  | 'wrong-path'
  | 'not-an-issuer'
  | 'firewall-page'
  | 'issuer-trouble'
  | 'no-response'
  | 'token-missing'

export const fixes: Readonly<Record<TokenFault, FixFor>> = {
  'wrong-secret': ({ readFrom, failure, option }, _, group) =>
    fileFixes(group) +
    (oddityFix(group) ??
      `${firstAboutMethod(failure)}Copy the client id and secret again, complete and without spaces, into ${listed(readFrom)}. Check that the secret has not been rotated, and that it belongs to this issuer and this environment.${option.endsWith('authUrl') ? '' : ' Check also whether the client is registered for another `clientAuthentication`.'}${failure.oauthError === 'unauthorized_client' ? ' If all that is right, ask whether this client may use this grant.' : ''}`),
  'wrong-key': ({ method, readFrom, failure, expired }) => {
    if (expired !== '' || isCertificateRefused(failure, method))
      return refusedCertificateFix(failure, readFrom, expired !== '')
    return method === 'private_key_jwt'
      ? `Compare ${listed(readFrom)} with the client's registration: the id, the public key and its \`keyId\`, the algorithm, and whether it is registered for \`private_key_jwt\`.`
      : `Compare ${listed(readFrom)} with the client's registration: the id, the certificate's subject and its CA, and whether it is registered for \`tls_client_auth\`.`
  },
  'credentials-missing': () =>
    'Correct what the message names: variables, secret files, or the function that reads them. No request was sent to the issuer.',
  'assertion-not-sent': () => unsentFix,
  'assertion-refused': ({ token }) => refusedFix(token),
  'request-refused': ({ failure: { oauthError = 'invalid_request' } }) =>
    fixesOfRequests[oauthError] ??
    `Check the client id, then ask the issuer's operator what this client may do: ${oauthError} (RFC 6749 §5.2).`,
  'host-unknown': (_, options) =>
    `Check the DNS settings of this machine. If ${options} is right, the server's metadata names a wrong host: tell its operator, or set \`tokenEndpoint\` instead.`,
  'wrong-path': wrongPathFix,
  'not-an-issuer': (_, options) =>
    `${options} is the URL of an API: set the issuer's. The secret may well be right.`,
  'firewall-page': ({ method, failure: { status = 0 } }, options) => {
    const refusal =
      method === 'tls_client_auth'
        ? "refuses this client's certificate"
        : 'wants a client certificate (`tls_client_auth`)'
    const also = certificateStatuses.has(status) ? ` Or the server ${refusal}: ask its operator.` : ''
    return `Allow this host in the proxy or firewall, and check ${options}.${also}`
  },
  'issuer-trouble': ({ failure: { status, retryAfter, reason }, url }) => {
    const wait =
      retryAfter === undefined ? 'Wait' : `Wait ${inWords(retryAfter)}, as its \`Retry-After\` asks`
    if (status === 429) return `${wait}, and share tokens between processes: ${guide}/fleet.md.`
    // `fetch` does not show the alert with which TLS 1.3 asks for a certificate
    const isCut = url.protocol === 'https:' && reason.includes('closed the connection')
    const also = isCut ? ', and ask whether the issuer wants a client certificate (`tls_client_auth`)' : ''
    return `${wait}. If the problem persists, tell the issuer's operator${also}.`
  },
  'no-response': ({ failure }, options) => {
    const limit = / did not respond in (\d+) ms/.exec(failure.reason)?.[1]
    if (Number(limit) < 1_000)
      return `Raise \`requestTimeout\` first, or \`maxWait\` if that is shorter: ${limit} ms is too short for many issuers. If that does not help, tell the issuer's operator, and check ${options}.`
    return `The server hangs, or there is nothing behind its load balancer: tell its operator, or raise \`requestTimeout\`, and \`maxWait\` if it is shorter${limit === undefined ? '' : ` (it waited ${limit} ms)`}. Check ${options}.`
  },
  'token-missing': ({ failure }, options) =>
    `Check ${options}, and look up ${failure.code} in node_modules/@tokenlane/core/troubleshoot.md.`,
}

/** How to fix a request that the issuer refuses, by its OAuth error. */
const fixesOfRequests: Readonly<Record<string, string>> = {
  invalid_request:
    "Check the issuer's `parameters`, `scope` and `clientAuthentication`. If they are right, ask its operator what is wrong with the request.",
  invalid_scope:
    "Correct the issuer's `scope`: it is missing, misspelled, or not allowed for this client. Its operator knows which scopes the client may request.",
  invalid_target:
    "Correct or remove `resource` in the issuer's `parameters`: the issuer does not know it, or does not allow it for this client (RFC 8707).",
}

/** Returns what to try first if core or the issuer's own words blame how the client authenticates; '' otherwise. */
function firstAboutMethod({ reason }: TokenFailure): string {
  if (reason.includes('do not form-decode'))
    return 'Try `client_secret_post` first: it has nothing to decode. '
  const [, words = ''] = /\(status \d+, "(.*)"\)/.exec(reason) ?? []
  return /client_secret_|private_key_jwt|tls_client_auth|auth\w* method/i.test(words)
    ? "Set `clientAuthentication` to the method in the issuer's message first. "
    : ''
}

/** Returns what to do about issuers that refuse each other's clients, as it seems. */
export function exchangedFix(group: readonly Failed[]): string {
  const places = group.map(({ readFrom }) => readFrom).join(' and ')
  return `${fileFixes(group)}Each issuer has its own client registration: check that the client ids and secrets in ${places} are not swapped, and belong to this environment.`
}

function fileFixes(group: readonly Failed[]): string {
  return unique(group.map(({ fileFix }) => fileFix)).join('')
}

/** What to do about a field that looks wrong: that it does is in core's message. */
const oddFixes = {
  quotes: (place: string) => `Remove the quotes around ${place}.`,
  placeholder: (place: string) => `Replace the placeholder in ${place} with the real value.`,
  'white space': (place: string) => `Remove the white space from ${place}.`,
}

function oddityFix(group: readonly Failed[]): string | undefined {
  const all = group.flatMap(({ readFrom, token: { oddities = [] } }) =>
    oddities.map(({ field, oddity }) => oddFixes[oddity](placeOf(field, readFrom))),
  )
  if (all.length === 0) return undefined
  return `${unique(all).join(' ')} If the issuer still refuses it, copy the client id and secret again.`
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}

const servicePaths = ['/public/security/v1/token', '/IdentityServer/connect/token']

function wrongPathFix(
  { url: { pathname: path }, option }: Failed,
  options: string,
  group: readonly Failed[],
): string {
  if (group.length > 1)
    return `Check that ${options} are not swapped: each issuer has its own server and path.`
  if (option.endsWith('tokenEndpoint'))
    return `Correct ${options}: it is \`token_endpoint\` in the server's metadata. ${guide}/providers shows where to find it for Keycloak, Okta, Auth0 and others.`
  if (option.endsWith('issuer')) return `Correct ${options}, or set the server's \`tokenEndpoint\` instead.`
  const added = servicePaths.find((one) => path.endsWith(one) && path !== one)
  return added === undefined
    ? `Correct ${options}. The general issuer's path is ${servicePaths.join(", the weblink issuer's ")}.`
    : `Remove the path ${path.slice(0, -added.length)} from \`${option}\`: ${added} is appended to it.`
}
