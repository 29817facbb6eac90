import {
  allowInsecureRequests,
  ClientSecretPost,
  clientCredentialsGrantRequest,
  customFetch,
  processClientCredentialsResponse,
  ResponseBodyError,
} from 'oauth4webapi'
import { abortable } from '../time/abortable.ts'
import type { Credentials } from '../credentials/credentials.ts'
import { TokenlaneError, type TokenlaneErrorCode, type TokenlaneErrorDetails } from '../errors.ts'
import { parseHttpDate } from '../time/http-date.ts'
import { parseRetryAfter } from '../time/retry-after.ts'
import { dispatcherMustKeepFloor } from '../tls/tls-dispatcher.ts'
import { describeFault, unusedProxy } from './transport-fault.ts'

/** Where and how one issuer is asked for a token. */
export interface TokenEndpoint {
  readonly issuer: string
  readonly url: URL
  /** What to look at where the URL turns out not to be a token endpoint. */
  readonly check: string
  readonly scope: string | undefined
  /** The `fetch` to ask with; by default the runtime's at the time of the request. */
  readonly fetch: typeof globalThis.fetch | undefined
  /** The manager that asks, so that a subscriber of the tracing channel can tell several apart. */
  readonly manager?: object | undefined
}

/** What the issuer gave: the token and its lifetime in milliseconds. */
export interface TokenAnswer {
  readonly token: string
  readonly lifetime: number
}

/** Lifetime where the issuer names none; RFC 6749 §5.1 leaves it to the service's documentation. */
const documentedLifetime = 3_600_000
/** No token outlives the secret that it was issued for. */
const longestLifetime = 365 * 86_400_000
/** A token answer is a few KiB. */
const largestAnswer = 1_048_576
/** Visible ASCII (RFC 6749 A.12 without the space): what may stand in a header field. */
const headerSafe = /^[\x21-\x7e]+$/

/**
 * One token request by client credentials (RFC 6749 §4.4), sent as `client_secret_post`.
 *
 * The only place that knows the wire: form fields, snake_case, seconds, and what an answer means.
 *
 * @throws TokenlaneError `TOKEN_REQUEST_REFUSED` or `INSECURE_TRANSPORT` if trying again is of no use, else
 * `TOKEN_REQUEST_FAILED`, `TOKEN_REQUEST_TIMEOUT` (when `signal` aborts) or `TOKEN_RESPONSE_INVALID`.
 */
export async function requestToken(
  endpoint: TokenEndpoint,
  { clientId, clientSecret }: Credentials,
  signal: AbortSignal,
): Promise<TokenAnswer> {
  const failed = (
    code: TokenlaneErrorCode,
    reason: string,
    details?: TokenlaneErrorDetails,
  ): TokenlaneError =>
    new TokenlaneError(
      code,
      `Cannot obtain token: issuer "${endpoint.issuer}" (${endpoint.url.origin}${endpoint.url.pathname}) ${reason}`,
      { issuer: endpoint.issuer, ...details },
    )
  const server = { issuer: endpoint.url.origin, token_endpoint: endpoint.url.href }
  const client = { client_id: clientId }
  const form = new URLSearchParams(endpoint.scope === undefined ? {} : { scope: endpoint.scope })

  const { url, fetch } = endpoint
  dispatcherMustKeepFloor({
    url: url.href,
    ownFetch: fetch !== undefined,
    refuse(reason) {
      throw failed('INSECURE_TRANSPORT', `is not asked: ${reason}`)
    },
  })

  let answer: Answer
  try {
    const request = clientCredentialsGrantRequest(server, client, ClientSecretPost(clientSecret), form, {
      signal,
      // https: was made sure of at start-up, with the exception for loopback
      [allowInsecureRequests]: true,
      ...(fetch && { [customFetch]: fetch }),
    })
    // a `fetch` that does not heed the signal must not hold up the calls that wait for the token
    answer = await abortable(request.then(read), signal)
  } catch (error) {
    if (error instanceof AnswerTooLarge)
      throw failed('TOKEN_RESPONSE_INVALID', 'answered with more than 1 MiB')
    const ownFetch = endpoint.fetch !== undefined
    if (signal.aborted)
      throw failed('TOKEN_REQUEST_TIMEOUT', `did not answer in time${unusedProxy(endpoint.url, ownFetch)}`)
    const fault = await describeFault(error, endpoint.url, [clientSecret], ownFetch)
    const { reason, definite, cause } = fault
    throw failed(fault.tlsTooOld ? 'INSECURE_TRANSPORT' : 'TOKEN_REQUEST_FAILED', reason, {
      cause,
      ...(definite && { definite }),
    })
  }

  const { status, retryAfter } = answer
  try {
    const lifetime = lifetimeIn(answer.body)
    const { access_token, token_type } = await processClientCredentialsResponse(
      server,
      client,
      conform(answer),
    )
    if (token_type !== 'bearer' || !headerSafe.test(access_token)) throw new TypeError('no bearer token')
    return { token: access_token, lifetime }
  } catch (error) {
    if (isDefinite(error)) {
      const oauthError = printable(error.error, clientSecret)
      throw failed('TOKEN_REQUEST_REFUSED', `refused: ${oauthError} (status ${status})`, {
        status,
        oauthError,
        definite: true,
      })
    }
    const { reason, definite } = wrongAnswer(answer, endpoint.check)
    throw failed(status >= 400 ? 'TOKEN_REQUEST_FAILED' : 'TOKEN_RESPONSE_INVALID', reason, {
      status,
      retryAfter,
      ...(definite && { definite }),
    })
  }
}

/** Says what an answer looks like that is no OAuth answer. */
function wrongAnswer(
  { status, isHtml, isBearer }: Answer,
  check: string,
): { reason: string; definite: boolean } {
  if (status === 404 || status === 405)
    return {
      reason: `has no token endpoint at this path (answered with status ${status}): ${check}`,
      definite: true,
    }
  if (status === 401 && isBearer)
    return {
      reason: `answered with status 401 as an API does, not an authorization server: ${check}`,
      definite: true,
    }
  const what = status >= 400 ? `status ${status}` : `no token response (status ${status})`
  const page = isHtml ? ', but with an HTML page: is it that of a proxy or a firewall?' : ''
  return { reason: `answered with ${what}${page}`, definite: false }
}

interface Answer {
  readonly status: number
  readonly retryAfter: number | undefined
  readonly body: string
  readonly isHtml: boolean
  /** Whether `WWW-Authenticate` asks for a bearer token (RFC 6750 §3), as an API does. */
  readonly isBearer: boolean
}

class AnswerTooLarge extends Error {}

/** Reads the whole answer, up to a bound, so that a slow or endless one ends with the request. */
async function read({ status, headers, body: stream }: Response): Promise<Answer> {
  const decoder = new TextDecoder()
  let body = ''
  let size = 0
  for await (const chunk of (stream ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > largestAnswer) throw new AnswerTooLarge()
    body += decoder.decode(chunk, { stream: true })
  }
  return {
    status,
    // a date is compared with the issuer's own clock, since ours may be an hour off
    retryAfter: parseRetryAfter(headers.get('retry-after'), parseHttpDate(headers.get('date')) ?? Date.now()),
    isHtml: /^\s*text\/html\b/i.test(headers.get('content-type') ?? ''),
    isBearer: /^\s*bearer\b/i.test(headers.get('www-authenticate') ?? ''),
    body: body + decoder.decode(),
  }
}

/**
 * The answer as RFC 6749 §5 has it. What decides is the body: servers label JSON as text, and a
 * `WWW-Authenticate` beside an RFC 6749 error body adds nothing.
 */
function conform({ status, body }: Answer): Response {
  const empty = status === 204 || status === 205 || status === 304
  return new Response(empty ? null : body, { status, headers: { 'content-type': 'application/json' } })
}

/** `expires_in` may be missing; where it is there, it must be a finite number above 0, as text at the worst. */
function lifetimeIn(body: string): number {
  const { expires_in: given } = JSON.parse(body) as { expires_in?: unknown }
  if (given === undefined) return documentedLifetime
  const seconds = typeof given === 'string' && /^\d+(?:\.\d+)?$/.test(given) ? Number(given) : given
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds <= 0)
    throw new TypeError('expires_in')
  return Math.min(seconds * 1_000, longestLifetime)
}

/** Whether the issuer's no will still be a no in a second: a 4xx with an RFC 6749 error, unless it says "later". */
function isDefinite(error: unknown): error is ResponseBodyError {
  return (
    error instanceof ResponseBodyError &&
    error.status !== 429 &&
    error.status !== 408 &&
    !['temporarily_unavailable', 'server_error', 'slow_down'].includes(error.error)
  )
}

/** The errors of RFC 6749 §5.2: never a secret, whatever the secret is. */
const oauthErrors = new Set([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
])

/** Returns `error` if it may be printed: RFC 6749 §5.2 allows few characters, and an issuer may send any. */
function printable(error: string, secret: string): string {
  if (oauthErrors.has(error)) return error
  return /^[\w.:/-]{1,64}$/.test(error) && !error.includes(secret)
    ? error
    : 'an error code that RFC 6749 does not allow'
}
