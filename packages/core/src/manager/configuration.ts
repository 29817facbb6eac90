import { managerBehind } from './known-managers.ts'
import type { RatePolicy } from '../queue/rate-policy.ts'

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
  const manager = managerBehind(tokens)
  if (manager === undefined) return undefined
  const { issuers, apis, fetch, store, limiter } = manager.options
  return {
    issuers: Array.from(issuers, ([name, { place, discover, option, credentials, renewBefore }]) => ({
      name,
      url: place.origin + place.pathname,
      discovered: discover !== undefined,
      option,
      clientAuthentication: credentials.method,
      renewBefore,
    })),
    apis: apis.map(({ baseUrl, issuer, ratePolicy }) => ({
      baseUrl,
      issuer,
      ratePolicy: ratePolicy && {
        limits: ratePolicy.limits.map(({ quota, window }) => ({ quota, window })),
      },
    })),
    ownFetch: fetch !== undefined,
    store: store !== undefined,
    limiter: limiter !== undefined,
  }
}
