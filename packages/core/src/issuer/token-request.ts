import { type AuthorizationServer, clientCredentialsGrantRequest, clockSkew } from 'oauth4webapi'
import type { ClientCredentials } from '../credentials/credentials.ts'
import { isTokenlaneError, TokenlaneError, type TokenlaneErrorCode } from '../errors.ts'
import type { RenewalReason } from '../events.ts'
import { Expiry, moment } from '../time/expiry.ts'
import { StepTimeout } from '../time/timers.ts'
import { Tracing } from '../tracing.ts'
import { failure } from './issuer-failure.ts'
import { askServer, type IssuerResponse } from './issuer-request.ts'
import { secretsOf } from './protocol.ts'
import type { TokenEndpoint, TokenRequest } from './token-endpoint.ts'
import { readTokenResponse, type IssuedToken } from './token-response.ts'
import type { ClientTokenSource } from './token-source.ts'

/** What a subscriber of `tokenlane:token.request` sees of one token request; the last four once it has ended. */
interface TokenRequestMessage {
  /** The `TokenManager` that asks. */
  readonly manager: object | undefined
  readonly issuer: string
  /** The URL of the endpoint, or of the issuer that names it, without a query. */
  readonly endpoint: string
  readonly reason: RenewalReason
  outcome?: 'issued' | 'failed'
  code?: TokenlaneErrorCode
  /** In milliseconds. */
  duration?: number
  error?: unknown
}

const tracing = new Tracing<TokenRequestMessage>('tokenlane:token.request')

/**
 * Returns the source that asks the issuer itself, by one token request.
 *
 * @param requestTimeout how long the request may take, in milliseconds.
 */
export function askIssuer(endpoint: TokenEndpoint, requestTimeout: number): ClientTokenSource {
  return {
    async obtain(client, reason, wait) {
      const timeout = new StepTimeout(() => Math.min(requestTimeout, Math.max(1, wait.timeLeft)))
      const start = moment()
      try {
        const { token, lifetime } = await traced(endpoint, reason, () =>
          requestToken(endpoint, client, timeout.signal()),
        )
        const expiry = Expiry.of(lifetime, start)
        // a slow response with a short token, or one that was read after the machine slept
        if (expiry.isOver()) throw tooLate(endpoint)
        return { token, lifetime, expiry, duration: performance.now() - start.monotonic }
      } finally {
        timeout.clear()
      }
    },
  }
}

/** Makes a token request that subscribers can see. */
async function traced<T>(
  { manager, issuer, server }: TokenEndpoint,
  reason: RenewalReason,
  request: () => Promise<T>,
): Promise<T> {
  if (!tracing.isObserved) return request()
  const { origin, pathname } = server.url
  const message: TokenRequestMessage = { manager, issuer, endpoint: origin + pathname, reason }
  const start = performance.now()
  try {
    const issued = await tracing.begin(message, request)
    message.outcome = 'issued'
    return issued
  } catch (error) {
    message.outcome = 'failed'
    if (isTokenlaneError(error)) message.code = error.code
    message.error = error
    throw error
  } finally {
    message.duration = performance.now() - start
    tracing.finish(message)
  }
}

function tooLate({ issuer, server }: TokenEndpoint): TokenlaneError {
  const reason = "responded after the token's lifetime"
  return failure({ issuer, url: server.url }, 'TOKEN_REQUEST_TIMEOUT', reason)
}

/**
 * Makes one token request by client credentials (RFC 6749 §4.4), and another one where the server's metadata or its
 * clock show why the first failed.
 *
 * @throws TokenlaneError `TOKEN_REQUEST_REFUSED` or `INSECURE_TRANSPORT` if another try would fail, too, else
 * `TOKEN_REQUEST_FAILED`, `TOKEN_REQUEST_TIMEOUT` (when `signal` aborts) or `TOKEN_RESPONSE_INVALID`.
 */
export async function requestToken(
  endpoint: TokenEndpoint,
  client: ClientCredentials,
  signal: AbortSignal,
): Promise<IssuedToken> {
  const { issuer, server, fetch, asking } = endpoint
  const request = { issuer, fetch, signal, asking, secrets: secretsOf(client) }
  const askBy = (metadata: AuthorizationServer): Promise<IssuedToken> => {
    const url = tokenUrl(endpoint, metadata)
    return askInTime({ endpoint, client, metadata, request: { ...request, url } })
  }
  const metadata = await server.get(request)
  try {
    return await askBy(metadata)
  } catch (error) {
    // the endpoint understood the request, so its URL is current
    if (isTokenlaneError(error) && error.code === 'TOKEN_REQUEST_REFUSED') throw error
    const moved = await server.renew(request, metadata)
    if (moved === undefined) throw error
    return askBy(moved)
  }
}

/** Asks once, and once more if the issuer refused a proof because its times do not fit its clock (RFC 7523 §3). */
async function askInTime(asked: TokenRequest): Promise<IssuedToken> {
  const { proof, clock } = asked.endpoint
  const response = await send(asked)
  const first = await readTokenResponse(response, asked)
  if (!(first instanceof TokenlaneError)) return first
  const isRefused = first.code === 'TOKEN_REQUEST_REFUSED'
  if (!isRefused || proof.isTimed !== true || !learn(clock, response.date)) throw first
  const second = await readTokenResponse(await send(asked), asked)
  if (second instanceof TokenlaneError) throw second
  return second
}

async function send({ endpoint, client, metadata, request }: TokenRequest): Promise<IssuerResponse> {
  const { issuer, server, proof, assertionAudience, parameters, clock } = endpoint
  const clientMetadata = {
    client_id: client.clientId,
    [clockSkew]: clock.ahead,
    use_mtls_endpoint_aliases: proof.fetchOf !== undefined,
  }
  const audience = assertionAudience ?? (server.isDiscovered ? metadata.issuer : request.url.href)
  const authentication = await proof.prove(client, { issuer, metadata, audience })
  const form = new URLSearchParams(parameters as [string, string][])
  const fetch = proof.fetchOf?.(client) ?? request.fetch
  return askServer({ ...request, fetch }, (options) =>
    clientCredentialsGrantRequest(metadata, clientMetadata, authentication, form, options),
  )
}

/** Returns the URL that oauth4webapi asks: with a certificate an alias of the endpoint, if there is one. */
function tokenUrl({ proof }: TokenEndpoint, metadata: AuthorizationServer): URL {
  const alias = proof.fetchOf && metadata.mtls_endpoint_aliases?.token_endpoint
  return new URL((alias ?? metadata.token_endpoint) as string)
}

/** A clock that is further off is wrong in another way than by its time zone: the `Date` may be made up. In seconds. */
const mostAhead = 86_400

/** Takes over the time of a response, in epoch milliseconds, and returns whether that changes what a proof says. */
function learn(clock: TokenEndpoint['clock'], date: number | undefined): boolean {
  if (date === undefined) return false
  // `Date` leaves out the milliseconds: on average that is half a second (RFC 9110 §5.6.7)
  const ahead = Math.round((date + 500 - Date.now()) / 1_000)
  if (ahead === clock.ahead || Math.abs(ahead) > mostAhead) return false
  clock.ahead = ahead
  return true
}
