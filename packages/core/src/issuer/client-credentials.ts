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
import { parseRetryAfter } from '../time/retry-after.ts'
import { dispatcherMustKeepFloor } from '../tls/tls-dispatcher.ts'

/** Where and how one issuer is asked for a token. */
export interface TokenEndpoint {
  readonly issuer: string
  readonly url: URL
  readonly scope: string | undefined
  /** The `fetch` to ask with; by default the runtime's at the time of the request. */
  readonly fetch: typeof globalThis.fetch | undefined
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
/** How OpenSSL and BoringSSL say that there is no TLS version that both sides allow. */
const tlsTooOld = /^ERR_SSL_(?:TLSV1_ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW)$/
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
      `Cannot obtain token: issuer "${endpoint.issuer}" (${endpoint.url.origin}) ${reason}`,
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
    // a `fetch` that does not heed the signal must not hold up those who wait
    answer = await abortable(request.then(read), signal)
  } catch (error) {
    if (error instanceof AnswerTooLarge)
      throw failed('TOKEN_RESPONSE_INVALID', 'answered with more than 1 MiB')
    if (signal.aborted) throw failed('TOKEN_REQUEST_TIMEOUT', 'did not answer in time')
    const code = transportCode(error, clientSecret)
    if (code !== undefined && tlsTooOld.test(code))
      throw failed('INSECURE_TRANSPORT', `offers no TLS 1.2 or later (${code})`, {
        cause: bareCause(error, code, clientSecret),
      })
    throw failed('TOKEN_REQUEST_FAILED', `could not be reached${code ? ` (${code})` : ''}`, {
      cause: bareCause(error, code, clientSecret),
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
      })
    }
    if (status >= 400)
      throw failed('TOKEN_REQUEST_FAILED', `answered with status ${status}`, { status, retryAfter })
    throw failed('TOKEN_RESPONSE_INVALID', `answered with no token response (status ${status})`, {
      status,
      retryAfter,
    })
  }
}

interface Answer {
  readonly status: number
  readonly retryAfter: number | undefined
  readonly body: string
}

class AnswerTooLarge extends Error {}

/** Reads the whole answer, up to a bound, so that a slow or endless one ends with the request. */
async function read(response: Response): Promise<Answer> {
  const decoder = new TextDecoder()
  let body = ''
  let size = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > largestAnswer) throw new AnswerTooLarge()
    body += decoder.decode(chunk, { stream: true })
  }
  return {
    status: response.status,
    retryAfter: parseRetryAfter(response.headers.get('retry-after'), Date.now()),
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

/** RFC 6749 §5.2 allows few characters in `error`, and whoever sends others must not write our messages. */
function printable(error: string, secret: string): string {
  return /^[\w.:/-]{1,64}$/.test(error) && !error.includes(secret)
    ? error
    : 'an error code that RFC 6749 does not allow'
}

/** The code of the innermost cause, such as ECONNREFUSED: what an operator searches for. */
function transportCode(error: unknown, secret: string): string | undefined {
  let code: string | undefined
  let inner: unknown = error
  for (let depth = 0; depth < 8 && typeof inner === 'object' && inner !== null; depth += 1) {
    const candidate = (inner as { code?: unknown }).code
    if (typeof candidate === 'string' && isWord(candidate, secret)) code = candidate
    inner = (inner as { cause?: unknown }).cause
  }
  return code
}

/** Name and code only: a transport's own error may hold the request, and that holds the secret. */
function bareCause(error: unknown, code: string | undefined, secret: string): Error {
  const name = error instanceof Error && isWord(error.name, secret) ? error.name : 'Error'
  return Object.assign(new Error(code ?? 'unknown transport error'), { name, ...(code && { code }) })
}

/** A `fetch` of the caller's may put anything anywhere. */
function isWord(text: string, secret: string): boolean {
  return /^[\w.-]{1,64}$/.test(text) && !text.includes(secret)
}
