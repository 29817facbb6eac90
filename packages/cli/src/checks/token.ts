import type { Facts } from '../facts/facts.ts'
import type { TokenFacts, TokenFailure } from '../facts/token.ts'
import { envFileFix } from './application.ts'
import { signersOf } from './assertion.ts'
import { expiredText, isCertificateRefused, methodOf } from './client-certificate.ts'
import { ownClockOffset } from './clock.ts'
import { isRefusedToDoctorAlone, unknownHost } from './connection.ts'
import { type Check, groupsBy, issuersOf, table } from './finding.ts'
import { certificateStatuses, exchangedFix, type Failed, fixes, type TokenFault } from './token-fixes.ts'

/** Issuers with the same fault, which has one cause more often than two. */
interface Fault {
  readonly id: TokenFault
  readonly group: readonly Failed[]
  readonly first: Failed
  readonly isSeveral: boolean
  /** Whether credentials that the issuers refuse look wrong. */
  readonly isOdd: boolean
  readonly options: string
}

const messages = ({ id, group }: Fault): string =>
  group
    .map(({ failure, token, expired }) =>
      `${sentence(failure.reason)} ${id === 'assertion-refused' ? signersOf(token) : expired}`.trim(),
    )
    .join(' ')

/** Finds issuers that gave no token; distinguishes wrong secret or key, exchanged credentials, path, server and firewall. */
export const checkTokens: Check = table({
  cases: (facts): Fault[] =>
    groupsBy(failedIn(facts), faultOf).map((group) => {
      const [first] = group as readonly [Failed]
      const id = faultOf(first)
      const isOdd = id === 'wrong-secret' && group.some(({ token }) => (token.oddities ?? []).length > 0)
      const options = group.map(({ option }) => `\`${option}\``).join(' and ')
      return { id, group, first, isSeveral: group.length > 1, isOdd, options }
    }),
  subject: ({ group }) => issuersOf(group.map(({ issuer }) => issuer)),
  why: ({ id, isSeveral }) =>
    `Without a token, calls to ${isSeveral ? 'their' : 'its'} APIs are not sent.${id === 'firewall-page' ? ' The credentials were not checked.' : ''}`,
  rows: [
    {
      id: 'credentials-exchanged',
      when: ({ id, isSeveral, isOdd }) => isSeveral && id === 'wrong-secret' && !isOdd,
      seen: messages,
      fix: ({ group }) => exchangedFix(group),
    },
    {
      id: ({ id }) => id,
      seen: messages,
      fix: ({ id, first, options, group }) => fixes[id](first, options, group),
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
    const fileFix = envFileFix(readFrom, facts)
    const { issuer } = token
    return [{ issuer, failure, option, method, readFrom, url: new URL(url), token, expired, fileFix }]
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
  return methodOf(issuer, facts) === 'private_key_jwt' && Math.abs(ownClockOffset(facts)) > 86_400_000
}

function noFailure({ issuer, duration }: TokenFacts): TokenFailure {
  const reason = `issuer "${issuer}" returned neither a token nor an error in ${Math.round(duration / 1_000)} s`
  return { code: 'TOKEN_REQUEST_TIMEOUT', reason }
}

function faultOf({ failure, method, token, expired }: Failed): TokenFault {
  const { code, status = 0, reason, transportCode = '' } = failure
  const { isByAssertion = false } = token
  if (code === 'CREDENTIALS_UNAVAILABLE') return isByAssertion ? 'assertion-not-sent' : 'credentials-missing'
  if (code === 'TOKEN_REQUEST_TIMEOUT') return 'no-response'
  if (expired !== '' && certificateStatuses.has(status)) return 'wrong-key'
  if (reason.includes('an HTML page') || (status >= 300 && status < 400)) return 'firewall-page'
  if (reason.includes('like an API')) return 'not-an-issuer'
  if (status === 404 || status === 405) return 'wrong-path'
  if (unknownHost.has(transportCode)) return 'host-unknown'
  if (isCertificateRefused(failure, method)) return 'wrong-key'
  if (status === 408 || status === 429 || status >= 500 || reason.includes('closed the connection'))
    return 'issuer-trouble'
  // core says so of every error that is not about the request, since servers have other names for `invalid_client`
  if (reason.includes('check the client id and')) {
    if (isByAssertion) return 'assertion-refused'
    return method === 'private_key_jwt' || method === 'tls_client_auth' ? 'wrong-key' : 'wrong-secret'
  }
  return code === 'TOKEN_REQUEST_REFUSED' ? 'request-refused' : 'token-missing'
}

function sentence(reason: string): string {
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}${/[.?]$/.test(reason) ? '' : '.'}`
}

/** Finds issuers that granted fewer scopes than were asked for. */
export const checkScopes: Check = table({
  cases: ({ events }) => events.flatMap((event) => (event.type === 'scope.narrowed' ? [event] : [])),
  severity: 'warning',
  subject: ({ issuer }) => `issuer ${issuer}`,
  rows: [
    {
      id: 'scope-narrowed',
      seen: ({ missing }) =>
        `The token response names its scopes, and these are not among them: ${missing.join(' ')}.`,
      why: 'APIs refuse the calls that need them, mostly with status 403.',
      fix: 'Ask the operator of the issuer to allow this client these scopes, or take them out of `scope`.',
    },
  ],
})

/** Finds issuers whose token responses are not as the standard has them. */
export const checkResponses: Check = table({
  cases: ({ events }) => events.flatMap((event) => (event.type === 'token.unusual' ? [event] : [])),
  severity: 'info',
  subject: ({ issuer }) => `issuer ${issuer}`,
  rows: [
    {
      id: 'token-unusual',
      seen: ({ oddities }) => `The token response has ${oddities.join(', ')}.`,
      why: 'RFC 6749 §5.1 has it otherwise. The token is used all the same, and sent as Bearer.',
      fix: 'None is needed while calls succeed. `tokenTypes` of the issuer refuses tokens of other types.',
    },
  ],
})
