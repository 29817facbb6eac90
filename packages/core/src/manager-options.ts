import { mustBeText, refuse, shape } from './options/check.ts'
import { didYouMean } from './options/nearest.ts'
import { Environment, type PerEnvironment } from './options/environment.ts'
import type { Observer } from './events.ts'
import { type CheckedIssuer, checkIssuer } from './issuer/check-issuer.ts'
import type { IssuerOptions } from './issuer/issuer-options.ts'
import type { RateLimiterFactory } from './queue/limiter-factory.ts'
import { type CheckedPolicy, checkRatePolicy, type RatePolicy } from './queue/rate-policy.ts'
import { count, list, object, optional, type Reader, record } from './options/reader.ts'
import type { TokenStore } from './store/token-store.ts'

/** A protected API and the issuer whose tokens it takes. */
export interface ApiOptions<Issuer extends string = string> {
  /**
   * Origin and path prefix, one for all environments or one for each. A URL belongs to the API with the same
   * origin and the longest `baseUrl` path that is its prefix on a segment boundary.
   */
  readonly baseUrl: PerEnvironment
  /** A name from `issuers`. */
  readonly issuer: Issuer
  /** What the API allows. Without a rate policy its calls never queue. */
  readonly ratePolicy?: RatePolicy | undefined
  /**
   * Which calls may be sent again after a 401, or after a status that says that the limit was passed: all, none, or
   * those of the methods in a list, such as `['GET', 'HEAD']`. The response of another call is its caller's; the token
   * is renewed and the API pauses all the same. A call's own `resend` goes first.
   *
   * @defaultValue true
   */
  readonly resend?: boolean | readonly string[] | undefined
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
   */
  readonly environment?: string | undefined
  /**
   * Shares the tokens with other processes, so that one of them asks the issuer for all; `redisTokenStore` from
   * `@tokenlane/redis` is such a store. It holds sealed tokens only.
   *
   * @defaultValue each process has its own tokens
   */
  readonly store?: TokenStore | undefined
  /**
   * Keeps the rate policies of all APIs, for example for several processes: `redisLimiter` of `@tokenlane/redis`.
   *
   * @defaultValue each manager keeps them by itself, in its own memory
   */
  readonly limiter?: RateLimiterFactory | undefined
  /** Receives every event; what an observer throws is ignored. */
  readonly observe?: Observer | readonly Observer[] | undefined
  /**
   * Makes the token requests, for proxies and tests. Never the `fetch` that this manager is plugged into. Passes on
   * the `dispatcher` that it gets where the process allows TLS 1.0.
   *
   * @defaultValue the runtime's `fetch`
   */
  readonly fetch?: TokenFetch | undefined
  /**
   * Returns what a tenant has of its own, for `forTenant`: one application with many registrations, such as one for
   * each customer. Asked when a tenant's first call needs it.
   */
  readonly tenants?: ((id: string) => TenantOptions<NoInfer<Issuer>>) | undefined
  /**
   * Tenants that are kept, 1 or more. Beyond that the one that was used least recently is dropped, and built anew if it
   * is used again; never one with a call under way, or that was used within the last 10 s.
   *
   * @defaultValue 10_000
   */
  readonly mostTenants?: number | undefined
}

/** What a tenant has of its own. */
export interface TenantOptions<Issuer extends string = string> {
  /**
   * The tenant's registration at every issuer: its own credentials, and what else differs from the options that the
   * manager has for that issuer.
   */
  readonly issuers: Readonly<Record<Issuer, Pick<IssuerOptions, 'credentials'> & Partial<IssuerOptions>>>
  /**
   * The APIs that its calls go to.
   *
   * @defaultValue those of the manager, each with queue and limits of the tenant's own
   */
  readonly apis?: readonly ApiOptions<Issuer>[] | undefined
}

/** A manager's options, as they are used. */
export interface CheckedOptions {
  readonly tenants: ((id: string) => unknown) | undefined
  readonly mostTenants: number
  readonly environment: Environment
  readonly issuers: ReadonlyMap<string, CheckedIssuer>
  readonly apis: readonly CheckedApi[]
  readonly store: TokenStore | undefined
  readonly observe: readonly Observer[]
  readonly fetch: typeof globalThis.fetch | undefined
  readonly limiter: RateLimiterFactory | undefined
}

interface CheckedApi {
  readonly baseUrl: string
  readonly issuer: string
  readonly ratePolicy: CheckedPolicy | undefined
  readonly resend: boolean | readonly string[]
}

/** @throws TokenlaneError `INVALID_OPTIONS` or `INSECURE_TRANSPORT`, naming all options that are wrong. */
export function checkOptions(options: TokenManagerOptions): CheckedOptions {
  const given = isRecord(options) ? options : {}
  const environment = new Environment(own(given, 'environment'))
  const issuers = own(given, 'issuers')
  return object<CheckedOptions>({
    environment: () => environment,
    issuers: readIssuers(environment, own(given, 'fetch') !== undefined),
    apis: readApis(isRecord(issuers) ? issuers : {}, environment),
    store: optional(readStore),
    limiter: optional(aFunction<RateLimiterFactory>('a function that makes a limiter for an API')),
    observe: readObservers,
    fetch: optional(aFunction<typeof globalThis.fetch>('a fetch function')),
    tenants: optional(aFunction<(id: string) => unknown>('a function that returns the options of a tenant')),
    mostTenants: optional(count(1), 10_000),
  })(options, 'options')
}

function readIssuers(
  environment: Environment,
  ownFetch: boolean,
): Reader<ReadonlyMap<string, CheckedIssuer>> {
  const allowed = 'one issuer or more, by name'
  const read = record((value, path) => checkIssuer(value, path, environment, ownFetch), allowed)
  return (value, path) => {
    const issuers = read(value, path)
    mustHaveOwnOrigins(issuers, path)
    return issuers
  }
}

/** The service's two issuers are different servers: both on one origin are a copy-paste. */
function mustHaveOwnOrigins(issuers: ReadonlyMap<string, CheckedIssuer>, path: string): void {
  const firstOf = new Map<string, [name: string, tokenPath: string]>()
  for (const [name, { tokenPath, place }] of issuers) {
    if (tokenPath === undefined) continue
    const [other, otherPath] = firstOf.get(place.origin) ?? [name, tokenPath]
    if (tokenPath !== otherPath)
      refuse(
        `${path}.${name}.authUrl`,
        `on the same origin as \`${path}.${other}.authUrl\` (${place.origin})`,
        'an origin for each of the two issuers',
      )
    firstOf.set(place.origin, [other, otherPath])
  }
}

function readApis(
  issuers: Readonly<Record<string, unknown>>,
  environment: Environment,
): Reader<readonly CheckedApi[]> {
  const names = Object.keys(issuers)
  const allowed = issuerNames(names)
  const places = new Map<string, string>()
  const read = (value: unknown, path: string): CheckedApi => {
    const name = own(value, 'issuer')
    const isInsecure = typeof name === 'string' && own(own(issuers, name), 'allowInsecureLoopback') === true
    return object<CheckedApi>({
      baseUrl(url, urlPath) {
        const { href } = environment.url(url, urlPath, isInsecure)
        const place = href.replace(/\/+$/, '')
        const other = places.get(place)
        if (other !== undefined) refuse(urlPath, `the same as \`${other}\``, 'one API for each base URL')
        places.set(place, urlPath)
        return href
      },
      issuer(issuer, issuerPath) {
        const text = mustBeText(issuer, issuerPath, allowed)
        if (!Object.hasOwn(issuers, text))
          refuse(issuerPath, `not a name from \`issuers\`${didYouMean(text, names)}`, allowed)
        return text
      },
      ratePolicy: optional(checkRatePolicy),
      resend: optional(readResend, true),
    })(value, path)
  }
  return list(read, 'an array, which may be empty')
}

/** Reads which calls may be sent again. */
export const readResend: Reader<boolean | readonly string[]> = (value, path) => {
  if (typeof value === 'boolean') return value
  const allowed = "true, false or methods in capital letters, such as ['GET', 'HEAD']"
  const readMethod: Reader<string> = (method, methodPath) =>
    typeof method === 'string' && /^[A-Z]+(?:-[A-Z]+)*$/.test(method)
      ? method
      : refuse(methodPath, shape(method), allowed)
  return list(readMethod, allowed)(value, path)
}

const readStore: Reader<TokenStore> = (value, path) => {
  for (const method of ['claim', 'write', 'release', 'drop'])
    if (typeof own(value, method, { inherited: true }) !== 'function')
      refuse(path, shape(value), 'a token store, with claim, write, release and drop')
  return value as TokenStore
}

const readObservers: Reader<readonly Observer[]> = (value, path) => {
  const allowed = 'a function or an array of functions'
  const observers: readonly unknown[] = value === undefined ? [] : Array.isArray(value) ? value : [value]
  return observers.map((observer) => aFunction<Observer>(allowed)(observer, path))
}

function aFunction<T>(allowed: string): Reader<T> {
  return (value, path) => (typeof value === 'function' ? (value as T) : refuse(path, shape(value), allowed))
}

/** Says what is allowed where an issuer is named. */
export function issuerNames(issuers: Iterable<string>): string {
  return `one of ${[...issuers].join(', ')}`
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function own(value: unknown, name: string, { inherited = false } = {}): unknown {
  return isRecord(value) && (inherited || Object.hasOwn(value, name)) ? value[name] : undefined
}
