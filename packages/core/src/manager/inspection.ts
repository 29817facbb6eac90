import { managerBehind } from './known-managers.ts'
import { type ClientOutcome, tryClients } from '../issuer/try-clients.ts'
import type { RateLimiterFactory } from '../queue/limiter-factory.ts'
import type { TokenStore } from '../store/token-store.ts'

/**
 * What a tool can try out that looks for faults of an application: the objects that the application gave to its
 * manager, and its credentials. `configurationOf` returns what can be printed instead.
 */
export interface Inspection {
  /** Makes the token requests; `undefined` where the runtime's does. */
  readonly fetch: typeof globalThis.fetch | undefined
  readonly store: TokenStore | undefined
  readonly limiter: RateLimiterFactory | undefined
  /**
   * Returns what an issuer says to each of its clients, in the order of its credentials. Asks it once for each that the
   * manager has not asked with, and throws those tokens away.
   *
   * @throws TokenlaneError `CREDENTIALS_UNAVAILABLE`, or `INVALID_OPTIONS` for an unknown issuer.
   */
  tryClients(issuer: string): Promise<readonly ClientOutcome[]>
}

/** Returns what can be tried out of a manager; `undefined` for anything that this copy of the package did not create. */
export function inspectionOf(tokens: unknown): Inspection | undefined {
  const manager = managerBehind(tokens)
  if (manager === undefined) return undefined
  const { fetch, store, limiter } = manager.options
  return {
    fetch,
    store,
    limiter,
    async tryClients(name) {
      const { credentials, issuing, requestTimeout } = manager.registration.issuer(name)
      return tryClients(credentials, issuing, requestTimeout)
    },
  }
}
