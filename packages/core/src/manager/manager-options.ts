import type { PerEnvironment } from '../options/environment.ts'
import type { Observer } from '../events.ts'
import type { IssuerOptions } from '../issuer/issuer-options.ts'
import type { RateLimiterFactory } from '../queue/limiter-factory.ts'
import type { RatePolicy } from '../queue/rate-policy.ts'
import type { SharedStore } from '../store/token-store.ts'

/** A protected API and the issuer whose tokens it takes. */
export interface ApiOptions<Issuer extends string = string> {
  /**
   * Origin and path prefix, one for all environments or one for each. A URL belongs to the API with the same
   * origin and the longest `baseUrl` path that is its prefix on a segment boundary.
   */
  readonly baseUrl: PerEnvironment
  /** A name from `issuers`. */
  readonly issuer: Issuer
  /**
   * How many calls the API allows, and how long calls may queue for it.
   *
   * @defaultValue none: its calls never queue
   */
  readonly ratePolicy?: RatePolicy | undefined
  /**
   * Which calls may be sent again after a 401, at most twice, or after a status that says that the limit was passed: all,
   * none, or those of the methods in a list, such as `['GET', 'HEAD']`. The response of another call is its caller's; the
   * token is renewed and the API pauses all the same. A call's own `resend` goes first.
   *
   * @defaultValue true
   */
  readonly resend?: boolean | readonly string[] | undefined
  /**
   * The status codes by which the API says that a token has expired or was revoked, 400 to 499. Some say 403 or 404, which
   * can mean something else, too: name them for an API that has no other use for them. A forced renewal is bounded as after
   * a 401, and a `Bearer` challenge that names another reason still counts. A body is not looked at.
   *
   * @defaultValue [401]
   */
  readonly refusedStatuses?: readonly number[] | undefined
}

/** A `fetch` for token requests, of the runtime or of a package such as undici. */
export type TokenFetch = (
  url: string,
  init: {
    readonly method: string
    readonly headers: Record<string, string>
    readonly body: URLSearchParams
    readonly redirect: 'manual'
    readonly signal: AbortSignal
  },
) => Promise<{
  readonly status: number
  readonly headers: { get(name: string): string | null }
  json(): Promise<unknown>
}>

/** Configures a token manager. */
export interface TokenManagerOptions<Issuer extends string = string> {
  /** Token issuers, by names of your choice. */
  readonly issuers: Readonly<Record<Issuer, IssuerOptions>>
  /** The APIs that get tokens. A URL outside of them is sent exactly as it would be without Tokenlane. */
  readonly apis: readonly ApiOptions<NoInfer<Issuer>>[]
  /**
   * The environment that this process is in, such as `testing` or `production`. Needed where a URL is given by
   * environment.
   *
   * @defaultValue none
   */
  readonly environment?: string | undefined
  /**
   * Shares the tokens with other processes, so that one of them asks the issuer for all: `redisTokenStore` from
   * `@tokenlane/redis`, or `sharedStore(store)` from `@tokenlane/core/fleet`. It holds sealed tokens only.
   *
   * @defaultValue each process has its own tokens
   */
  readonly store?: SharedStore | undefined
  /**
   * Keeps the rate policies of all APIs, for example for several processes: `redisLimiter` of `@tokenlane/redis`.
   *
   * @defaultValue each manager keeps them by itself, in its own memory
   */
  readonly limiter?: RateLimiterFactory | undefined
  /**
   * Receives every event, such as `logObserver(console)`; what an observer throws is ignored.
   *
   * @defaultValue none
   */
  readonly observe?: Observer | readonly Observer[] | undefined
  /**
   * Makes the token requests, for proxies and tests. Never the `fetch` that this manager is plugged into.
   *
   * @defaultValue the runtime's `fetch`
   */
  readonly fetch?: TokenFetch | undefined
}
