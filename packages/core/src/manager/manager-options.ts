import type { PerEnvironment } from '../options/urls.ts'
import type { Observer } from '../events.ts'
import type { IssuerOptions } from '../issuer/issuer-options.ts'
import type { RateLimiterFactory } from '../limits/rate-limiter.ts'
import type { RatePolicy } from '../limits/rate-policy.ts'
import type { SharedStore } from '../store/token-store.ts'

/** A protected API and the issuer whose tokens it accepts. */
export interface ApiOptions<Issuer extends string = string> {
  /**
   * Origin and path prefix, one for all environments or one for each. A URL belongs to the API with the same origin and
   * the longest `baseUrl` path that is a prefix of the URL's path on a segment boundary.
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
   * Which calls may be sent again after a 401 (once) or after one of the policy's `limitedStatuses`: all,
   * none, or only the listed methods, such as `['GET', 'HEAD']`. Other calls get the response as it is; the token
   * is still renewed and the API still pauses. A call's own `resend` takes precedence.
   *
   * @defaultValue true
   */
  readonly resend?: boolean | readonly string[] | undefined
  /**
   * What stands before the token in the `Authorization` header (RFC 9110 §11.4), for an API that wants another word there,
   * such as `OAuth` or `Zoho-oauthtoken`.
   *
   * @defaultValue 'Bearer'
   */
  readonly scheme?: string | undefined
  /**
   * The status codes, 400 to 499, by which the API says that a token has expired or was revoked. Some APIs use 403 or
   * 404, which can also mean something else: list them only for an API that does not use them otherwise. Forced
   * renewals are limited as after a 401, and a response whose `Bearer` challenge names another reason forces none.
   * The body is not read.
   *
   * @defaultValue [401]
   */
  readonly refusedStatuses?: readonly number[] | undefined
}

/** A `fetch` for token requests, from the runtime or from a package such as undici. */
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
  /** Token issuers, under names of your choice. */
  readonly issuers: Readonly<Record<Issuer, IssuerOptions>>
  /** The APIs that get tokens. Calls to any other URL are sent exactly as they would be without Tokenlane. */
  readonly apis: readonly ApiOptions<NoInfer<Issuer>>[]
  /**
   * The environment that this process runs in, such as `testing` or `production`. Required if any URL is given per
   * environment.
   *
   * @defaultValue none
   */
  readonly environment?: string | undefined
  /**
   * Shares tokens with other processes, so that each token is requested only once: `redisTokenStore` from
   * `@tokenlane/redis`, or `sharedStore(store)` from `@tokenlane/core/fleet`. It only ever holds encrypted tokens.
   *
   * @defaultValue each process has its own tokens
   */
  readonly store?: SharedStore | undefined
  /**
   * Enforces the rate policies of all APIs, for example across several processes: `redisLimiter` from
   * `@tokenlane/redis`.
   *
   * @defaultValue each manager enforces them on its own, in memory
   */
  readonly limiter?: RateLimiterFactory | undefined
  /**
   * Receives every event. For log lines, use `logObserver(console)`. Errors that an observer throws are ignored.
   *
   * @defaultValue none
   */
  readonly observe?: Observer | readonly Observer[] | undefined
  /**
   * Makes the token requests, for proxies and tests. Never pass a `fetch` that this manager is attached to.
   *
   * @defaultValue the runtime's `fetch`
   */
  readonly fetch?: TokenFetch | undefined
  /**
   * Set it to `'server'` on a server that has the globals of a browser, such as `window`, `document` and `navigator` of
   * jsdom. In a real browser it changes nothing.
   *
   * @defaultValue what the globals show
   */
  readonly runtime?: 'server' | undefined
}
