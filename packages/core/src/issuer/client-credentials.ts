import {
  type AuthorizationServer,
  clientCredentialsGrantRequest,
  clockSkew,
  processClientCredentialsResponse,
  ResponseBodyError,
} from 'oauth4webapi'
import {
  type CertificateCredentials,
  type ClientCredentials,
  clientAuthenticationMethods,
  proofOf,
} from '../credentials/credentials.ts'
import { isTokenlaneError, TokenlaneError } from '../errors.ts'
import { certificateFetch } from '../tls/client-certificate.ts'
import { clientAuthentication, secretsOf } from './client-authentication.ts'
import { askServer, asJson, failure, type IssuerRequest, type IssuerResponse } from './issuer-request.ts'
import type { TokenEndpoint } from './token-endpoint.ts'

/** What the issuer gave: the token and its lifetime in milliseconds. */
export interface TokenAnswer {
  readonly token: string
  readonly lifetime: number
}

/** Lifetime where the issuer names none; RFC 6749 §5.1 leaves it to the service's documentation. */
const documentedLifetime = 3_600_000
/** No token outlives the secret that it was issued for. */
const longestLifetime = 365 * 86_400_000
/** Visible ASCII (RFC 6749 A.12 without the space): what may stand in a header field. */
const headerSafe = /^[\x21-\x7e]+$/

/**
 * Makes one token request by client credentials (RFC 6749 §4.4), and another one where the server's metadata or its
 * clock show why the first failed.
 *
 * @throws TokenlaneError `TOKEN_REQUEST_REFUSED` or `INSECURE_TRANSPORT` if trying again is of no use, else
 * `TOKEN_REQUEST_FAILED`, `TOKEN_REQUEST_TIMEOUT` (when `signal` aborts) or `TOKEN_RESPONSE_INVALID`.
 */
export async function requestToken(
  endpoint: TokenEndpoint,
  credentials: ClientCredentials,
  signal: AbortSignal,
): Promise<TokenAnswer> {
  const { issuer, server, fetch, asking } = endpoint
  const request = { issuer, fetch, signal, asking, secrets: secretsOf(credentials) }
  const askBy = (metadata: AuthorizationServer): Promise<TokenAnswer> => {
    const url = tokenUrl(endpoint, metadata)
    return askInTime({ endpoint, credentials, metadata, request: { ...request, url } })
  }
  const metadata = await server.get(request)
  try {
    return await askBy(metadata)
  } catch (error) {
    // a refusal comes from the right place
    if (isTokenlaneError(error) && error.code === 'TOKEN_REQUEST_REFUSED') throw error
    const moved = await server.renew(request, metadata)
    if (moved === undefined) throw error
    return askBy(moved)
  }
}

/** One token request: which client asks which server, and how. */
interface Asking {
  readonly endpoint: TokenEndpoint
  readonly credentials: ClientCredentials
  readonly metadata: AuthorizationServer
  readonly request: IssuerRequest
}

/** Asks, and asks again where an assertion is refused whose times are not those of the issuer's clock (RFC 7523 §3). */
async function askInTime(asking: Asking): Promise<TokenAnswer> {
  const { method, clock } = asking.endpoint
  const response = await send(asking)
  const answer = await tokenIn(response, asking)
  if (!(answer instanceof TokenlaneError)) return answer
  const isRefused = answer.code === 'TOKEN_REQUEST_REFUSED'
  if (!isRefused || method !== 'private_key_jwt' || !clock.learn(response.date)) throw answer
  const second = await tokenIn(await send(asking), asking)
  if (second instanceof TokenlaneError) throw second
  return second
}

async function send({ endpoint, credentials, metadata, request }: Asking): Promise<IssuerResponse> {
  const { issuer, server, method, parameters, clock } = endpoint
  const client = {
    client_id: credentials.clientId,
    [clockSkew]: clock.difference,
    use_mtls_endpoint_aliases: method === 'tls_client_auth',
  }
  const audience = server.isDiscovered ? undefined : request.url.href
  const proof = await clientAuthentication({ issuer, method }, credentials, audience)
  const form = new URLSearchParams(parameters as [string, string][])
  const fetch =
    method === 'tls_client_auth' ? certificateFetch(credentials as CertificateCredentials) : request.fetch
  return askServer({ ...request, fetch }, (options) =>
    clientCredentialsGrantRequest(metadata, client, proof, form, options),
  )
}

/** Returns the URL that oauth4webapi asks: with a certificate an alias of the endpoint, if there is one. */
function tokenUrl({ method }: TokenEndpoint, metadata: AuthorizationServer): URL {
  const alias = method === 'tls_client_auth' ? metadata.mtls_endpoint_aliases?.token_endpoint : undefined
  return new URL((alias ?? metadata.token_endpoint) as string)
}

/** Returns the token in a response (RFC 6749 §5.1), or the error that the response is. */
async function tokenIn(
  response: IssuerResponse,
  { endpoint, credentials, metadata, request }: Asking,
): Promise<TokenAnswer | TokenlaneError> {
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
 * Says what to check after a refused client: the method, where the server's metadata allows only others; else the
 * credentials. Only after a refusal: some servers' metadata is not complete.
 */
function whatToCheck({ issuer, method }: TokenEndpoint, metadata: AuthorizationServer): string {
  const methods = metadata.token_endpoint_auth_methods_supported
  if (!Array.isArray(methods) || methods.includes(method))
    return `: check client id and ${proofOf(method)} in \`issuers.${issuer}.credentials\``
  const known = clientAuthenticationMethods.filter((one) => methods.includes(one))
  return `; its metadata allows ${known.join(', ') || 'other methods'}, and \`clientAuthentication\` is ${method}`
}

/** Says what a response looks like that is not an OAuth response. */
function wrongResponse(
  { status, isHtml, isBearer }: IssuerResponse,
  { option, mistake }: TokenEndpoint,
): { reason: string; definite: boolean } {
  const check = `check \`${option}\``
  if (status === 404 || status === 405) {
    const question = mistake && `; ${mistake}`
    return {
      reason: `has no token endpoint at this path (answered with status ${status}): ${check}${question}`,
      definite: true,
    }
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

/** Whether a refusal will still be one in a second: a 4xx with an RFC 6749 error, unless it says "later". */
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
