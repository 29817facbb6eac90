import { allowInsecureRequests, clientCredentialsGrantRequest, customFetch } from 'oauth4webapi'
import { kindOf } from '../credentials/client.ts'
import type { ClientCredentials } from '../credentials/credentials.ts'
import { isTokenlaneError, type TokenlaneErrorCode } from '../errors.ts'
import type { RenewalReason } from '../events.ts'
import { isText } from '../options/check.ts'
import { later, moment, timeUntil } from '../time/expiry.ts'
import { stepTime, withTimeLimit } from '../time/countdown.ts'
import { Tracing } from '../tracing.ts'
import { failure } from './issuer-failure.ts'
import { askServer } from './issuer-request.ts'
import { type AskedServer, type IssuedToken, knownServer, type TokenEndpoint } from './protocol.ts'
import { readTokenResponse } from './token-response.ts'
import type { ClientTokenSource, Wait } from './token-source.ts'

/** What a subscriber of `tokenlane:token.request` sees of one token request; the last four once it has ended. */
interface TokenRequestMessage {
  /** The `TokenManager` that asks. */
  readonly manager: object
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

async function traced<T>(
  { manager, issuer, url }: TokenEndpoint,
  reason: RenewalReason,
  request: () => Promise<T>,
): Promise<T> {
  const message: TokenRequestMessage = { manager, issuer, endpoint: url.origin + url.pathname, reason }
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

/** Returns the source that asks the issuer itself, for a token by client credentials (RFC 6749 §4.4). */
export function askIssuer(endpoint: TokenEndpoint, requestTimeout: number): ClientTokenSource {
  const { issuer, fetch, beforeRequest, protocol, proofs } = endpoint
  const asking = protocol.asking?.(endpoint)
  const known = knownServer(endpoint.url)

  async function requestToken(
    client: ClientCredentials,
    wait: Wait,
    signal: AbortSignal,
  ): Promise<IssuedToken> {
    const proof = kindOf(client, proofs)
    const { clientSecret, privateKey, pfx, passphrase } = { ...client } as Readonly<Record<string, unknown>>
    // a header may hold a key
    const secrets = [clientSecret, privateKey, pfx, passphrase, ...Object.values(endpoint.headers)].filter(
      isText,
    )
    const common = { issuer, fetch, signal, beforeRequest, secrets }
    const ask = async (server: AskedServer): Promise<IssuedToken> => {
      const { url, clock } = server
      const authentication = await proof.prove(client, server, common)
      const form = new URLSearchParams(endpoint.parameters as [string, string][])
      const { headers } = endpoint
      const request = { ...common, url, headers, fetch: proof.fetchOf?.(client) ?? fetch }
      const response = await askServer(request, (send) =>
        clientCredentialsGrantRequest(
          { issuer: url.origin, token_endpoint: url.href },
          { client_id: client.clientId },
          authentication,
          form,
          // the URL was checked: https:, or http: to a loopback host
          { [allowInsecureRequests]: true, [customFetch]: send },
        ),
      )
      clock.date = response.date
      return readTokenResponse(response, {
        endpoint,
        client,
        proof,
        request,
        metadata: server.metadata,
        wait,
      })
    }
    return asking?.(common, ask, proof) ?? ask(known)
  }

  return {
    async obtain(client, reason, wait) {
      const start = moment()
      const issued = await withTimeLimit(stepTime(wait, requestTimeout), (signal) =>
        tracing.isObserved
          ? traced(endpoint, reason, () => requestToken(client, wait, signal))
          : requestToken(client, wait, signal),
      )
      const expiry = later(start, issued.lifetime)
      // a slow response with a short token, or one that was read after the machine slept
      if (timeUntil(expiry) <= 0)
        throw failure(endpoint, 'TOKEN_REQUEST_TIMEOUT', 'sent a token that has expired')
      return { ...issued, expiry, duration: performance.now() - start.monotonic }
    },
  }
}
