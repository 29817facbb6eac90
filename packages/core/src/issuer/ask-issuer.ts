import type { RotatingCredentials } from '../credentials/credential-rotation.ts'
import { TokenlaneError } from '../errors.ts'
import { Expiry, moment } from '../time/expiry.ts'
import { StepTimeout } from '../time/timers.ts'
import { requestToken, type TokenEndpoint } from './client-credentials.ts'
import type { TokenSource } from './token-source.ts'

/**
 * Returns the source that asks the issuer itself: one token request, and another one for each client of `credentials`
 * that is refused.
 *
 * @param requestTimeout how long one request and one look at the credentials may take, in milliseconds.
 */
export function askIssuer(
  endpoint: TokenEndpoint,
  credentials: RotatingCredentials,
  requestTimeout: number,
): TokenSource {
  return {
    async obtain(reason, wait) {
      const timeout = new StepTimeout(() => Math.min(requestTimeout, Math.max(1, wait.timeLeft)))
      const start = moment()
      try {
        const { token, lifetime } = await credentials.use(
          (client) => requestToken(endpoint, client, timeout.signal()),
          reason === 'startup' ? 'startup' : 'renewal',
          () => timeout.signal(),
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

function tooLate({ issuer, url }: TokenEndpoint): TokenlaneError {
  return new TokenlaneError(
    'TOKEN_REQUEST_TIMEOUT',
    `Cannot obtain token: issuer "${issuer}" (${url.origin}) answered after the token's lifetime`,
    { issuer },
  )
}
