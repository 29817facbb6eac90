import { processClientCredentialsResponse, ResponseBodyError } from 'oauth4webapi'
import { clientAuthenticationMethods, proofOf } from '../credentials/credentials.ts'
import type { TokenlaneError } from '../errors.ts'
import { asJson, failure, type IssuerResponse } from './issuer-request.ts'
import type { TokenEndpoint, TokenRequest } from './token-endpoint.ts'

/** What the issuer gave: the token and its lifetime in milliseconds. */
export interface IssuedToken {
  readonly token: string
  readonly lifetime: number
}

/** Lifetime where the issuer names none; RFC 6749 §5.1 leaves it to the service's documentation. */
const documentedLifetime = 3_600_000
/** No token outlives the secret that it was issued for. */
const longestLifetime = 365 * 86_400_000
/** Visible ASCII (RFC 6749 A.12 without the space): what may stand in a header field. */
const headerSafe = /^[\x21-\x7e]+$/

/** Returns the token in a response (RFC 6749 §5.1), or the error that the response is. */
export async function readTokenResponse(
  response: IssuerResponse,
  { endpoint, credentials, metadata, request }: TokenRequest,
): Promise<IssuedToken | TokenlaneError> {
  const { status, retryAfter } = response
  try {
    const lifetime = lifetimeIn(response.body)
    const { access_token: token, token_type: type } = await processClientCredentialsResponse(
      metadata,
      { client_id: credentials.clientId },
      asJson(response),
    )
    if (type !== 'bearer' || !headerSafe.test(token)) throw new TypeError('no bearer token')
    return { token, lifetime }
  } catch (error) {
    if (isDefinite(error)) {
      const oauthError = printable(error.error, request.secrets)
      const hint = oauthError === 'invalid_client' ? whatToCheck(endpoint, metadata) : ''
      return failure(request, 'TOKEN_REQUEST_REFUSED', `refused: ${oauthError} (status ${status})${hint}`, {
        status,
        oauthError,
        definite: true,
      })
    }
    const { reason, definite } = wrongResponse(response, endpoint)
    return failure(request, status >= 400 ? 'TOKEN_REQUEST_FAILED' : 'TOKEN_RESPONSE_INVALID', reason, {
      status,
      retryAfter,
      ...(definite && { definite }),
    })
  }
}

/**
 * Returns what to check after a refused client: the method, where the server's metadata allows only others; else the
 * credentials. Only after a refusal: some servers' metadata is not complete.
 */
function whatToCheck(
  { issuer, authentication: { method } }: TokenEndpoint,
  metadata: TokenRequest['metadata'],
): string {
  const methods = metadata.token_endpoint_auth_methods_supported
  if (!Array.isArray(methods) || methods.includes(method))
    return `: check client id and ${proofOf(method)} in \`issuers.${issuer}.credentials\``
  const known = clientAuthenticationMethods.filter((one) => methods.includes(one))
  return `; its metadata allows ${known.join(', ') || 'other methods'}, and \`clientAuthentication\` is ${method}`
}

/** Returns what a response that is not an OAuth response looks like, and what to check. */
function wrongResponse(
  { status, isHtml, isBearer }: IssuerResponse,
  { option, mistake }: TokenEndpoint,
): { reason: string; definite: boolean } {
  const check = `check \`${option}\``
  if (status === 404 || status === 405) {
    const question = mistake && `; ${mistake}`
    return {
      reason: `has no token endpoint at this path (responded with status ${status}): ${check}${question}`,
      definite: true,
    }
  }
  if (status === 401 && isBearer)
    return {
      reason: `responded with status 401 as an API does, not an authorization server: ${check}`,
      definite: true,
    }
  const what = status >= 400 ? `status ${status}` : `no token response (status ${status})`
  const page = isHtml ? ', but with an HTML page: is it that of a proxy or a firewall?' : ''
  return { reason: `responded with ${what}${page}`, definite: false }
}

/**
 * Returns the lifetime in milliseconds. `expires_in` may be missing; where it is there, it must be a finite number
 * above 0, as text at the worst. oauth4webapi takes 0, and the digits at the beginning of any text.
 */
function lifetimeIn(body: string): number {
  const { expires_in: given } = JSON.parse(body) as { expires_in?: unknown }
  if (given === undefined) return documentedLifetime
  const seconds = typeof given === 'string' && /^\d+(?:\.\d+)?$/.test(given) ? Number(given) : given
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds <= 0)
    throw new TypeError('expires_in')
  return Math.min(seconds * 1_000, longestLifetime)
}

/** Whether a refusal stays one: a 4xx with an RFC 6749 error, unless the error means that it may pass. */
function isDefinite(error: unknown): error is ResponseBodyError {
  return (
    error instanceof ResponseBodyError &&
    error.status !== 429 &&
    error.status !== 408 &&
    !['temporarily_unavailable', 'server_error', 'slow_down'].includes(error.error)
  )
}

/** The errors of RFC 6749 §5.2 and RFC 8707 §2: never a secret, whatever the secret is. */
const oauthErrors = new Set([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'invalid_target',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
])

/** Returns `error` if it may be printed: RFC 6749 §5.2 allows few characters, and an issuer may send any. */
function printable(error: string, secrets: readonly string[]): string {
  if (oauthErrors.has(error)) return error
  return /^[\w.:/-]{1,64}$/.test(error) && !secrets.some((secret) => error.includes(secret))
    ? error
    : 'an error code that RFC 6749 does not allow'
}
