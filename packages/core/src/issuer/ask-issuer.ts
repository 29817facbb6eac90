import type { ClientCredentials } from '../credentials/credentials.ts'
import { isTokenlaneError, type TokenlaneError, type TokenlaneErrorCode } from '../errors.ts'
import type { RenewalReason } from '../events.ts'
import { Expiry, moment } from '../time/expiry.ts'
import { StepTimeout } from '../time/timers.ts'
import { requestToken } from './token-request.ts'
import { failure } from './issuer-request.ts'
import type { TokenEndpoint } from './token-endpoint.ts'
import type { ClientTokenSource, Grant, Wait } from './token-source.ts'
import { Tracing } from '../tracing.ts'

/** What a subscriber of `tokenlane:token.request` sees of one token request; the last four once it has ended. */
interface TokenRequestMessage {
  /** The `TokenManager` that asks. */
  readonly manager: object | undefined
  readonly issuer: string
  /** The token endpoint's URL without a query. */
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
  return new AskedIssuer(endpoint, requestTimeout)
}

/** A class, since a process may have many tenants, and closures take more memory. */
class AskedIssuer implements ClientTokenSource {
  readonly #endpoint: TokenEndpoint
  readonly #requestTimeout: number

  constructor(endpoint: TokenEndpoint, requestTimeout: number) {
    this.#endpoint = endpoint
    this.#requestTimeout = requestTimeout
  }

  async obtain(client: ClientCredentials, reason: RenewalReason, wait: Wait): Promise<Grant> {
    const endpoint = this.#endpoint
    const timeout = new StepTimeout(() => Math.min(this.#requestTimeout, Math.max(1, wait.timeLeft)))
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
  }
}

/** Makes a token request that subscribers can see. */
async function traced<T>(
  { manager, issuer, server }: TokenEndpoint,
  reason: RenewalReason,
  request: () => Promise<T>,
): Promise<T> {
  if (!tracing.isObserved) return request()
  const { origin, pathname } = server.place
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
  return failure({ issuer, url: server.place }, 'TOKEN_REQUEST_TIMEOUT', reason)
}
