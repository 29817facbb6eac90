import type { ClientOutcome } from '../issuer/try-clients.ts'
import type { CheckedOptions } from '../manager-options.ts'
import type { RateLimiterFactory } from '../queue/limiter-factory.ts'
import type { TokenStore } from '../store/token-store.ts'
import type { Registration } from './registration.ts'

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

const inspections = new WeakMap<object, Inspection>()

/** Notes what `inspectionOf` returns for a manager. */
export function rememberInspection(
  tokens: object,
  { fetch, store, limiter }: CheckedOptions,
  registration: Registration,
): void {
  const tryClients = async (issuer: string): Promise<readonly ClientOutcome[]> =>
    registration.tryClients(issuer)
  inspections.set(tokens, { fetch, store, limiter, tryClients })
}

/** Returns what can be tried out of a manager; `undefined` for anything that this copy of the package did not create. */
export function inspectionOf(tokens: unknown): Inspection | undefined {
  return typeof tokens === 'object' && tokens !== null ? inspections.get(tokens) : undefined
}
