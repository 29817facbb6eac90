import type { AuthorizationServer } from 'oauth4webapi'
import type { ClientCredentials } from '../credentials/credentials.ts'
import { oddTextIn } from '../credentials/text-fields.ts'
import { aboutRequest } from '../credentials/refused-client.ts'
import type { TokenlaneError } from '../errors.ts'
import { printable } from '../foreign-text.ts'
import { has, isText, own } from '../options/check.ts'
import { withoutLastSlash } from '../options/urls.ts'
import { failure } from './issuer-failure.ts'
import { mistakeOf } from './issuer-url.ts'
import { descriptionIn, errorCode, knownErrors, proofsIn, textsIn } from './issuer-words.ts'
import type { ClientProof, IssuedToken, IssuerRequest, IssuerResponse, TokenEndpoint } from './protocol.ts'
import { lifetimeIn } from './token-lifetime.ts'
import type { Wait } from './token-source.ts'

interface TokenRequest {
  readonly endpoint: TokenEndpoint
  readonly client: ClientCredentials
  readonly proof: ClientProof
  readonly request: IssuerRequest
  readonly metadata: AuthorizationServer
  readonly wait: Pick<Wait, 'held'>
}

/** Visible ASCII (RFC 6749 A.12 without the space): what may stand in a header field. */
const headerSafe = /^[\x21-\x7e]+$/

/** What an unset variable of a server leaves. */
const unset = /^(?:null|undefined)$/

/** The types of tokens that no `Bearer` header can carry (RFC 8693 §3, RFC 9449, RFC 9200), in lower case. */
const otherTypes = new Set(['dpop', 'mac', 'n_a', 'pop'])

/** Some servers put the scheme in front of the token, which the header has by itself. */
const bearer = /^bearer\s+/i

/**
 * Returns the token in a response (RFC 6749 §5.1); throws what the response is instead. Any success with an access token
 * is a token response: servers differ in the status, and in the name of the type.
 */
export function readTokenResponse(response: IssuerResponse, given: TokenRequest): IssuedToken {
  const { status, members } = response
  const { error } = members
  const issued = readToken(response, given)
  if (response.ok && has(issued, 'token')) return issued
  const { request, wait } = given
  // no message may repeat the token in use either
  const secrets = [...request.secrets, wait.held].filter(isText)
  const asked = { ...given, request: { ...request, secrets } }
  const oauthError = isText(error) ? error : undefined
  if (isRefusal(response, oauthError)) throw refusal(response, asked, oauthError)
  const [reason, definite] = wrongResponse(response, asked)
  const code = status >= 400 ? 'TOKEN_REQUEST_FAILED' : 'TOKEN_RESPONSE_INVALID'
  throw failure(request, code, reason, {
    status,
    // a token that cannot be used is no better after it
    retryAfter: definite && status < 400 ? undefined : response.retryAfter(),
    definite,
    busy: isBusy(response) || undefined,
  })
}

/** How servers say that there are too many requests (Zoho, AWS, Google, Salesforce, Vertex). */
const busyWords =
  /too.?many.?(?:requests|calls|attempts|tokens)|rate.?(?:limit|exceeded)|limit.?(?:exceeded|reached)|throttl|slow.?down|quota.?exceeded/i

/** Whether the issuer is busy; statuses other than 429 need words for it. */
export function isBusy({ status, body }: IssuerResponse): boolean {
  return status === 429 || busyWords.test(body.slice(0, 2_000))
}

/** Errors of an issuer, or of a proxy in front of it, that may pass: `unknown_error` is Salesforce's. */
const passingErrors = /unavailable|server.?error|internal|unknown_error|slow_down|time.?out/i
export const passingStatuses: ReadonlySet<number> = new Set([407, 408, 409, 421, 425, 429, 499])
/** What servers call a refused client (GitHub, Slack). */
const clientErrors = /^(?=.*(?:client|credential))\w+$/
/** Statuses that say that no token endpoint is there. */
const misplacedStatuses = new Set([404, 405])

/**
 * Whether a response is a refusal, which stays one: a 4xx with an error in JSON (RFC 6749 §5.2), or one without, unless
 * it comes from something else than a token endpoint or asks to come again.
 */
function isRefusal(response: IssuerResponse, oauthError: string | undefined): boolean {
  const { status, retryAfter, challenge } = response
  // some servers say so with status 200
  if (response.ok) return knownErrors.has(oauthError) || clientErrors.test(oauthError ?? '')
  if (status < 400 || status >= 500 || passingStatuses.has(status) || isBusy(response)) return false
  // many servers say in `error` that nothing is at a path
  if (misplacedStatuses.has(status)) return knownErrors.has(oauthError)
  if (oauthError !== undefined) return status === 401 || !passingErrors.test(oauthError)
  if (status === 401 && challenge.startsWith('bearer')) return false
  return retryAfter() === undefined && !isPage(response)
}

/** Whether it is a page for people, whatever it is labelled as: that comes from a proxy or a firewall. */
function isPage(response: IssuerResponse): boolean {
  const { type, body } = response
  return isHtml(response) || (!/[/+]xml$/.test(type) && /^\s*<(?!\?xml)/.test(body))
}

function isHtml({ type }: IssuerResponse): boolean {
  return /\bx?html\b/.test(type)
}

/** Names parts of a request. */
const elsewhere = /\b(?:basic|body|form|header|post)\b/i

/** The options that errors about the request are about (RFC 6749 §5.2, RFC 8707 §2). */
const optionsOf: Readonly<Record<string, string>> = { invalid_scope: 'scope', invalid_target: 'parameters' }

function refusal(
  response: IssuerResponse,
  { endpoint, client, proof, request, metadata }: TokenRequest,
  givenError: string | undefined,
): TokenlaneError {
  const { status } = response
  const oauthError =
    givenError === undefined
      ? undefined
      : errorCode(givenError, [...request.secrets, ...proofsIn(response.sent)])
  const quoted = descriptionIn(response, request.secrets, oauthError)
  const what =
    oauthError === undefined
      ? `status ${status}, no OAuth error (${contentOf(response)}${quoted})`
      : `${oauthError} (status ${status}${quoted})`
  const methods = String(metadata.token_endpoint_auth_methods_supported ?? proof.method)
  const listed = methods.includes(proof.method) ? '' : ` (its metadata lists ${printable(methods)})`
  // an issuer that wants the secret in another part of the request
  const isOther =
    listed ||
    elsewhere.test(quoted) ||
    (endpoint.protocol.asking &&
      proof.method !== 'client_secret_basic' &&
      response.challenge.startsWith('basic'))
  const method = isOther ? `, and \`clientAuthentication\`${listed}` : ''
  const check = `: check the client id and ${proof.proof} in ${credentialsIn(endpoint)}${oddTextIn(client)}${method}`
  const isAboutGrant = oauthError === 'unauthorized_client'
  const isAboutClient =
    (!isAboutGrant && clientErrors.test(oauthError ?? '')) ||
    (status === 401 ? !aboutRequest.has(oauthError ?? '') : status === 403 && oauthError === undefined)
  const hint = isAboutClient ? check + (proof.hint?.(client) ?? '') : ''
  const named = own(optionsOf, `${oauthError}`)
  const option = named === undefined ? '' : `: check \`${named as string}\``
  const grant = isAboutGrant ? '; is this client allowed to use the client credentials grant?' : ''
  const details = { status, oauthError, definite: true }
  return failure(request, 'TOKEN_REQUEST_REFUSED', `refused: ${what}${hint}${option}${grant}`, details)
}

function credentialsIn({ credentialsOption, credentialsPlace }: TokenRequest['endpoint']): string {
  const option = `\`${printable(credentialsOption)}\``
  const place = credentialsPlace?.()
  return place ? `${printable(place)} (${option})` : option
}

function contentOf({ body, type }: IssuerResponse): string {
  return body === '' ? 'an empty response' : printable(type, 60) || 'no media type'
}

/** What is wrong with a response, and whether that stays so until something is changed. */
type Wrong = readonly [reason: string, definite?: boolean | undefined]

/** Describes a response that is neither a token nor a refusal, and says what to check. */
function wrongResponse(response: IssuerResponse, asked: TokenRequest): Wrong {
  const { endpoint, request } = asked
  const { status, challenge, members } = response
  const { option, tokenPath } = endpoint
  const check = `check \`${option}\``
  const quoted = descriptionIn(response, request.secrets)
  if (misplacedStatuses.has(status)) {
    const what = `has no token endpoint at this path (status ${status}${quoted})`
    return [`${what}: ${check}${mistakeOf(tokenPath)}`, true]
  }
  if (status === 401 && challenge.startsWith('bearer'))
    return [`responded with status 401 like an API, not a token endpoint: ${check}`, true]
  const page = pageIn(response, request.url, check)
  if (page !== undefined) return [page]
  if (status >= 400) return [`responded with status ${status}${quoted}`]
  const { access_token: token = tokenPlace(members), token_type: type } = members
  const fault = response.ok && (token ?? type) !== undefined ? readToken(response, asked) : undefined
  const words = descriptionIn(response, request.secrets, members['error'])
  // what is long and without spaces may be a token
  return (
    (fault as Wrong | undefined) ?? [
      `sent no token (status ${status}, ${contentOf(response)}${/\S{20}/.test(words) ? '' : words})`,
    ]
  )
}

/** Describes a redirect or an HTML page, which the issuer itself would not send; `undefined` for other responses. */
export function pageIn(response: IssuerResponse, url: URL, check: string): string | undefined {
  const { status, location } = response
  const target = status >= 300 && status < 400 && location ? URL.parse(location, url.href) : null
  const page = status < 500 && isHtml(response) ? 'returned an HTML page' : undefined
  // another path may hold anything
  const isKnown = target !== null && withoutLastSlash(target.href) === withoutLastSlash(url.href)
  const path = isKnown ? target.pathname : ''
  const what = target === null ? page : `redirected to ${printable(target.origin + path)}`
  // nginx, to a client without a certificate that it accepts
  const certificate = page && status === 400 ? ', or is a client certificate missing or refused' : ''
  return what && `${what} (status ${status}): is a proxy or firewall answering${certificate}? ${check}`
}

/** Names of members, and indices: nothing that a token or a secret looks like. */
const plainPath = /^(?:(?:\d{1,3}|[a-z_-]{1,24})(?:\.|$))+$/i

/** Returns where a token of whatever name is: the next response will have it there, too. */
function tokenPlace(members: IssuerResponse['members']): string | undefined {
  return textsIn(members).find(([name]) => /(?:token|jwt)$/i.test(name))?.[2]
}

function readToken(response: IssuerResponse, { endpoint, wait }: TokenRequest): IssuedToken | Wrong {
  const { access_token: given, token_type: type, scope } = response.members
  const token = isText(given) ? given.replace(bearer, '') : given
  const { tokenTypes } = endpoint
  const name = typeof type === 'string' ? type : ''
  const isOther = otherTypes.has(name.toLowerCase())
  if (!isText(token)) {
    const place = tokenPlace(response.members)
    if (place !== undefined)
      return wrong(
        'access_token',
        `in another place, or has another name${plainPath.test(place) ? `: \`${place}\`` : ''}`,
      )
    return token === undefined || token === ''
      ? ['sent a token response whose `access_token` is missing']
      : wrong('access_token', 'not a text')
  }
  if (tokenTypes === undefined && isOther)
    return wrong('token_type', `${name}, which a Bearer header cannot carry`)
  if (tokenTypes !== undefined && !tokenTypes.includes(name.toLowerCase()))
    return wrong(
      'token_type',
      `${name === '' ? 'missing' : 'another one'}; \`tokenTypes\`: ${tokenTypes.join(', ')}`,
    )
  if (unset.test(token)) return wrong('access_token', 'null or undefined as text')
  if (!headerSafe.test(token)) return wrong('access_token', 'not allowed in headers')
  const { lifetime, oddities } = lifetimeIn(response)
  if (lifetime === undefined) {
    const fault = wrong('expires_in', 'not a number above 0')
    // some issuers return the same token until it ends, with 0 at last: then another one comes
    return token === wait.held ? [fault[0]] : fault
  }
  const missingScopes = missingOf(endpoint.scope, scope)
  const { date } = response
  return { token, lifetime, oddities: [...odditiesOf(response, token), ...oddities], missingScopes, date }
}

/** Not asked for again: each further token would be thrown away, too. */
function wrong(name: string, fault: string): Wrong {
  return [`sent a token response whose \`${name}\` is ${fault}`, true]
}

/** Returns differences from RFC 6749 §5.1. A type may hold anything, so it is not quoted. */
function odditiesOf({ status, isForm, members }: IssuerResponse, token: string): readonly string[] {
  const { token_type: type } = members
  const isBearer = typeof type === 'string' && type.toLowerCase() === 'bearer'
  return [
    ...(status === 200 ? [] : [`status ${status} instead of 200`]),
    ...(isForm ? ['a form in place of JSON'] : []),
    ...(token === members['access_token'] ? [] : ['an `access_token` that begins with Bearer']),
    ...(isBearer ? [] : [type === undefined ? 'no `token_type`' : 'a `token_type` that is not Bearer']),
  ]
}

/** Returns the scopes that were asked for and are not among those that the response names, if it names any. */
function missingOf(asked: string | undefined, granted: unknown): readonly string[] {
  const named = Array.isArray(granted) ? (granted as unknown[]).join(' ') : granted
  if (asked === undefined || typeof named !== 'string') return []
  const given = new Set(scopesIn(named))
  // `.default` of Entra ID stands for scopes of other names
  return scopesIn(asked).filter((scope) => !given.has(scope) && !scope.endsWith('/.default'))
}

/** Some servers separate scopes by commas. */
const scopesIn = (text: string): readonly string[] => text.split(/[\s,]+/).filter(Boolean)
