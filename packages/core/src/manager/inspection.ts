import {
  type ClientDescription,
  type ClientOutcome,
  describeClient,
  tryClients,
} from '../issuer/with-credentials.ts'
import { credentialsOption } from '../issuer/protocol.ts'
import type { RateLimiterFactory } from '../queue/limiter-factory.ts'
import type { RatePolicy } from '../queue/rate-policy.ts'
import type { TokenStore } from '../store/token-store.ts'
import type { CheckedOptions } from './check-options.ts'
import type { ManagedIssuer } from './managed-issuer.ts'
import { issuerNamed } from './registration.ts'

/** What is behind a manager. */
interface KnownManager {
  readonly options: CheckedOptions
  readonly issuers: ReadonlyMap<string, ManagedIssuer>
}

const managers = new WeakMap<object, KnownManager>()

/** Lets tools look at a manager. */
export function rememberManager(tokens: object, manager: KnownManager): void {
  managers.set(tokens, manager)
}

function behind(tokens: unknown): KnownManager | undefined {
  return typeof tokens === 'object' && tokens !== null ? managers.get(tokens) : undefined
}

/** How a manager is configured, for tools that look at it. Holds no secret and no credentials. */
export interface ManagerConfiguration {
  readonly issuers: readonly IssuerConfiguration[]
  readonly apis: readonly ApiConfiguration[]
  /** Whether token requests are made by a `fetch` of the application's. */
  readonly ownFetch: boolean
  /** Whether tokens are shared with other processes. */
  readonly store: boolean
  /** Whether rate policies are kept by a limiter of the application's. */
  readonly limiter: boolean
}

interface IssuerConfiguration {
  readonly name: string
  /** The token endpoint, or the issuer identifier of a server whose metadata names it; without a query. */
  readonly url: string
  /** Whether the token endpoint is learned from metadata. */
  readonly discovered: boolean
  /** The path of the option that names the URL. */
  readonly option: string
  readonly clientAuthentication: string
  /** Where the credentials are read: the names of variables or a path, if that is known, else the path of the option. */
  readonly credentials: string
  /** In milliseconds, `undefined` where the default counts. */
  readonly renewBefore: number | undefined
}

interface ApiConfiguration {
  readonly baseUrl: string
  /** Name of the issuer whose tokens it takes. */
  readonly issuer: string
  readonly ratePolicy: RatePolicy | undefined
}

/**
 * Returns how a manager was configured when it was created, without any secret; `undefined` for anything that this
 * copy of the package did not create.
 */
export function configurationOf(tokens: unknown): ManagerConfiguration | undefined {
  const manager = behind(tokens)
  if (manager === undefined) return undefined
  const { issuers, apis, fetch, store, limiter } = manager.options
  return {
    issuers: Array.from(
      issuers,
      ([name, { url, isDiscovered, option, clientAuthentication, credentials, renewBefore }]) => ({
        name,
        url: url.origin + url.pathname,
        discovered: isDiscovered,
        option,
        clientAuthentication,
        credentials:
          (typeof credentials === 'function' && credentials.readsFrom?.(clientAuthentication)) ||
          credentialsOption({ option }),
        renewBefore,
      }),
    ),
    apis: apis.map(({ baseUrl, issuer, ratePolicy }) => ({
      baseUrl,
      issuer,
      ratePolicy: ratePolicy && { limits: ratePolicy.limits },
    })),
    ownFetch: fetch !== undefined,
    store: store !== undefined,
    limiter: limiter !== undefined,
  }
}

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
   * Returns the clients of an issuer, in the order of its credentials. Does not ask the issuer.
   *
   * @throws TokenlaneError `CREDENTIALS_UNAVAILABLE`, or `INVALID_OPTIONS` for an unknown issuer.
   */
  clients(issuer: string): Promise<readonly ClientDescription[]>
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
  const manager = behind(tokens)
  if (manager === undefined) return undefined
  const { fetch, store, limiter } = manager.options
  return {
    fetch,
    store,
    limiter,
    async clients(name) {
      const { credentials, requestTimeout } = issuerNamed(manager.issuers, name)
      const known = await credentials.known(AbortSignal.timeout(requestTimeout))
      return known.map(({ client }) => describeClient(client))
    },
    async tryClients(name) {
      const { credentials, issuing, requestTimeout } = issuerNamed(manager.issuers, name)
      return tryClients(credentials, issuing, requestTimeout)
    },
  }
}
