import { placeOf } from '../credential-variables.ts'
import type { Facts } from '../facts/facts.ts'
import type { TokenFacts, TokenFailure } from '../facts/token.ts'
import { guide } from '../guide.ts'
import { refusedFix, signersOf, unsentFix } from './assertion.ts'
import { expiredText, isCertificateRefused, methodOf, refusedCertificateFix } from './client-certificate.ts'
import { ownClockOffset } from './clock.ts'
import { isRefusedToDoctorAlone, unknownHost } from './connection.ts'
import { type Check, type Group, groupTable, issuersOf, listed } from './finding.ts'
import { day, inWords, sentence } from './words.ts'

/** An issuer that gave no token. */
interface Failed {
  readonly issuer: string
  readonly failure: TokenFailure
  readonly option: string
  readonly method: string
  readonly readFrom: string
  readonly url: URL
  readonly token: TokenFacts
  /** What is said of a client certificate that has expired; '' otherwise. */
  readonly expired: string
}

/** What nginx responds with to a client without a certificate that it accepts, with a page. */
const certificateStatuses: ReadonlySet<number> = new Set([400, 495, 496])

const is =
  (...codes: readonly TokenFailure['code'][]) =>
  ({ failure: { code } }: Failed): boolean =>
    codes.includes(code)
// core says so of every error that is not about the request, since servers have other names for `invalid_client`
const blamesClient = ({ failure: { reason } }: Failed): boolean => reason.includes('check the client id and')
const optionsOf = (group: Group<Failed>): string => group.map(({ option }) => `\`${option}\``).join(' and ')
/** Whether issuers refuse each other's clients, as it seems. */
const isExchanged = (group: Group<Failed>): boolean => group.length > 1 && oddityFix(group) === undefined

export const checkTokens: Check = groupTable({
  cases: failedIn,
  subject: (group) => issuersOf(group.map(({ issuer }) => issuer)),
  seen: (group) =>
    group.map(({ failure, expired }) => `${sentence(failure.reason)} ${expired}`.trim()).join(' '),
  why: (group) => `Without a token, calls to ${group.length > 1 ? 'their' : 'its'} APIs are not sent.`,
  rows: [
    {
      id: 'assertion-not-sent',
      when: (one) => is('CREDENTIALS_UNAVAILABLE')(one) && one.token.isByAssertion === true,
      fix: unsentFix,
    },
    {
      id: 'credentials-missing',
      when: is('CREDENTIALS_UNAVAILABLE'),
      fix: 'Correct what the message names: variables, secret files, or the function that reads them. No request was sent to the issuer.',
    },
    {
      id: 'no-response',
      when: is('TOKEN_REQUEST_TIMEOUT'),
      fix(group) {
        const limit = / did not respond in (\d+) ms/.exec(group[0].failure.reason)?.[1]
        if (Number(limit) < 1_000)
          return `Raise \`requestTimeout\` first, or \`maxWait\` if that is shorter: ${limit} ms is too short for many issuers. If that does not help, tell the issuer's operator, and check ${optionsOf(group)}.`
        return `The server hangs, or there is nothing behind its load balancer: tell its operator, or raise \`requestTimeout\`, and \`maxWait\` if it is shorter${limit === undefined ? '' : ` (it waited ${limit} ms)`}. Check ${optionsOf(group)}.`
      },
    },
    {
      id: 'wrong-key',
      when: ({ failure, method, expired }) =>
        isCertificateRefused(failure, method) ||
        (expired !== '' && certificateStatuses.has(failure.status ?? 0)),
      fix: ([{ failure, readFrom, expired }]) => refusedCertificateFix(failure, readFrom, expired !== ''),
    },
    {
      id: 'firewall-page',
      when: ({ failure: { reason, status = 0 } }) =>
        reason.includes('an HTML page') || (status >= 300 && status < 400),
      why: (group) =>
        `Without a token, calls to ${group.length > 1 ? 'their' : 'its'} APIs are not sent. The credentials were not checked.`,
      fix(group) {
        const [{ method, failure }] = group
        const refusal =
          method === 'tls_client_auth'
            ? "refuses this client's certificate"
            : 'wants a client certificate (`tls_client_auth`)'
        const isOfCertificate = certificateStatuses.has(failure.status ?? 0)
        const also = isOfCertificate ? ` Or the server ${refusal}: ask its operator.` : ''
        return `Allow this host in the proxy or firewall, and check ${optionsOf(group)}.${also}`
      },
    },
    {
      id: 'not-an-issuer',
      when: ({ failure: { reason } }) => reason.includes('like an API'),
      fix: (group) =>
        `${optionsOf(group)} is the URL of an API: set the issuer's. The secret may well be right.`,
    },
    {
      id: 'wrong-path',
      when: ({ failure: { status } }) => status === 404 || status === 405,
      fix: wrongPathFix,
    },
    {
      id: 'host-unknown',
      when: ({ failure: { transportCode = '' } }) => unknownHost.has(transportCode),
      fix: (group) =>
        `Check the DNS settings of this machine. If ${optionsOf(group)} is right, the server's metadata names a wrong host: tell its operator, or set \`tokenEndpoint\` instead.`,
    },
    {
      id: 'issuer-trouble',
      when: ({ failure: { status = 0, reason } }) =>
        status === 408 || status === 429 || status >= 500 || reason.includes('closed the connection'),
      fix([
        {
          failure: { status, retryAfter, reason },
          url,
        },
      ]) {
        const wait =
          retryAfter === undefined ? 'Wait' : `Wait ${inWords(retryAfter)}, as its \`Retry-After\` asks`
        if (status === 429) return `${wait}, and share tokens between processes: ${guide}/fleet.md.`
        // `fetch` does not show the alert with which TLS 1.3 asks for a certificate
        const isCut = url.protocol === 'https:' && reason.includes('closed the connection')
        const also = isCut
          ? ', and ask whether the issuer wants a client certificate (`tls_client_auth`)'
          : ''
        return `${wait}. If the problem persists, tell the issuer's operator${also}.`
      },
    },
    {
      id: 'assertion-refused',
      when: (one) => blamesClient(one) && one.token.isByAssertion === true,
      seen: (group) =>
        group.map(({ failure, token }) => `${sentence(failure.reason)} ${signersOf(token)}`.trim()).join(' '),
      fix: ([{ token }]) => refusedFix(token),
    },
    {
      id: 'wrong-key',
      when: (one) => blamesClient(one) && /^(?:private_key_jwt|tls_client_auth)$/.test(one.method),
      fix: ([{ method, readFrom, failure, expired }]) => {
        if (expired !== '') return refusedCertificateFix(failure, readFrom, true)
        return method === 'private_key_jwt'
          ? `Compare ${listed(readFrom)} with the client's registration: the id, the public key and its \`keyId\`, the algorithm, and whether it is registered for \`private_key_jwt\`.`
          : `Compare ${listed(readFrom)} with the client's registration: the id, the certificate's subject and its CA, and whether it is registered for \`tls_client_auth\`.`
      },
    },
    {
      id: (group) => (isExchanged(group) ? 'credentials-exchanged' : 'wrong-secret'),
      when: blamesClient,
      fix(group) {
        const [{ readFrom, failure, option }] = group
        if (isExchanged(group))
          return `Each issuer has its own client registration: check that the client ids and secrets in ${group.map((one) => one.readFrom).join(' and ')} are not swapped, and belong to this environment.`
        return (
          oddityFix(group) ??
          `${firstAboutMethod(failure)}Copy the client id and secret again, complete and without spaces, into ${listed(readFrom)}. Check that the secret has not been rotated, and that it belongs to this issuer and this environment.${option.endsWith('authUrl') ? '' : ' Check also whether the client is registered for another `clientAuthentication`.'}${failure.oauthError === 'unauthorized_client' ? ' If all that is right, ask whether this client may use this grant.' : ''}`
        )
      },
    },
    {
      id: 'request-refused',
      when: is('TOKEN_REQUEST_REFUSED'),
      fix: ([
        {
          failure: { oauthError = 'invalid_request' },
        },
      ]) =>
        fixesOfRequests[oauthError] ??
        `Check the client id, then ask the issuer's operator what this client may do: ${oauthError} (RFC 6749 §5.2).`,
    },
    {
      id: 'token-missing',
      fix: (group) =>
        `Check ${optionsOf(group)}, and look up ${group[0].failure.code} in node_modules/@tokenlane/core/troubleshoot.md.`,
    },
  ],
})

function failedIn(facts: Facts): Failed[] {
  return facts.tokens.flatMap((token): Failed[] => {
    if (token.lifetime !== undefined || isExplained(token, facts)) return []
    const found = facts.configuration.issuers.find(({ name }) => name === token.issuer)
    const {
      option = 'tokenEndpoint',
      clientAuthentication: method = '',
      credentials: readFrom = 'the credentials',
      url = 'https://localhost',
    } = found ?? {}
    const failure = token.failure ?? noFailure(token)
    const expired = expiredText(token, facts.now)
    const { issuer } = token
    return [{ issuer, failure, option, method, readFrom, url: new URL(url), token, expired }]
  })
}

/** Returns whether a failed connection or certificate of the issuer, or the clock, already explains the missing token. */
function isExplained({ issuer, failure }: TokenFacts, facts: Facts): boolean {
  const { code, status } = failure ?? {}
  if (code === 'TOKEN_REQUEST_REFUSED') return isRefusedForClock(issuer, facts)
  if (status !== undefined || code === 'CREDENTIALS_UNAVAILABLE') return false
  return facts.servers.some(
    (server) =>
      server.roles.includes(`issuer ${issuer}`) &&
      (server.failure ?? server.certificateFailure) !== undefined &&
      !isRefusedToDoctorAlone(server, facts),
  )
}

/** Core makes assertions by the issuer's clock, unless it differs by more than a day. */
function isRefusedForClock(issuer: string, facts: Facts): boolean {
  return methodOf(issuer, facts) === 'private_key_jwt' && Math.abs(ownClockOffset(facts)) > day
}

function noFailure({ issuer, duration }: TokenFacts): TokenFailure {
  const reason = `issuer "${issuer}" returned neither a token nor an error in ${Math.round(duration / 1_000)} s`
  return { code: 'TOKEN_REQUEST_TIMEOUT', reason }
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

/** What to do about a field that looks wrong: that it does is in core's message. */
const oddFixes = {
  quotes: (place: string) => `Remove the quotes around ${place}.`,
  placeholder: (place: string) => `Replace the placeholder in ${place} with the real value.`,
  'white space': (place: string) => `Remove the white space from ${place}.`,
}

function oddityFix(group: Group<Failed>): string | undefined {
  const all = group.flatMap(({ readFrom, token: { oddities = [] } }) =>
    oddities.map(({ field, oddity }) => oddFixes[oddity](placeOf(field, readFrom))),
  )
  if (all.length === 0) return undefined
  return `${[...new Set(all)].join(' ')} If the issuer still refuses it, copy the client id and secret again.`
}

const servicePaths = ['/public/security/v1/token', '/IdentityServer/connect/token']

function wrongPathFix(group: Group<Failed>): string {
  const [{ url, option }] = group
  const path = url.pathname
  if (group.length > 1)
    return `Check that ${optionsOf(group)} are not swapped: each issuer has its own server and path.`
  if (option.endsWith('tokenEndpoint'))
    return `Correct ${optionsOf(group)}: it is \`token_endpoint\` in the server's metadata. ${guide}/providers shows where to find it for Keycloak, Okta, Auth0 and others.`
  if (option.endsWith('issuer'))
    return `Correct ${optionsOf(group)}, or set the server's \`tokenEndpoint\` instead.`
  const added = servicePaths.find((one) => path.endsWith(one) && path !== one)
  return added === undefined
    ? `Correct ${optionsOf(group)}. The general issuer's path is ${servicePaths.join(", the weblink issuer's ")}.`
    : `Remove the path ${path.slice(0, -added.length)} from \`${option}\`: ${added} is appended to it.`
}
