import { mustBeObject, mustBeText, ownOptions, refuse, shape } from './options/check.ts'
import { Environment, type PerEnvironment } from './options/environment.ts'
import type { Observer } from './events.ts'
import { type CheckedIssuer, checkIssuer } from './credentials/check-issuer.ts'
import type { IssuerOptions } from './credentials/issuer.ts'
import { checkAll } from './options/check-all.ts'
import type { RateLimiterFactory } from './queue/limiter-factory.ts'
import { type CheckedPolicy, checkRatePolicy, type RatePolicy } from './queue/rate-policy.ts'
import type { TokenStore } from './store/token-store.ts'

/** A protected API and the issuer whose tokens it takes. */
export interface ApiOptions {
  /**
   * Origin and path prefix, one for all environments or one for each. A URL belongs to the API with the same
   * origin and the longest `baseUrl` path that is its prefix on a segment boundary.
   */
  readonly baseUrl: PerEnvironment
  /** A name from `issuers`. */
  readonly issuer: string
  /** What the API allows. Without one its calls never queue. */
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

/** Configures a token manager. */
export interface TokenManagerOptions {
  /** Token issuers, by names of your choice. */
  readonly issuers: Readonly<Record<string, IssuerOptions>>
  /** The APIs that get tokens. A URL of none of them is sent exactly as it would be without us. */
  readonly apis: readonly ApiOptions[]
  /**
   * Which environment this process is in, such as `testing` or `production`. Needed where a URL is given by
   * environment.
   */
  readonly environment?: string | undefined
  /**
   * Shares the tokens with the other processes of a fleet, so that one asks the issuer for all; `redisTokenStore`
   * from `@tokenlane/redis` is one. Holds sealed tokens only.
   *
   * @defaultValue each process has its own tokens
   */
  readonly store?: TokenStore | undefined
  /**
   * Keeps the rate policies of all APIs, for example for a whole fleet: `redisLimiter` of `@tokenlane/redis`.
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
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** A manager's options, in order. */
export interface CheckedOptions {
  readonly issuers: ReadonlyMap<string, CheckedIssuer>
  readonly apis: readonly {
    readonly baseUrl: string
    readonly issuer: string
    readonly ratePolicy: CheckedPolicy | undefined
    readonly resend: boolean | readonly string[]
  }[]
  readonly store: TokenStore | undefined
  readonly observers: readonly Observer[]
  readonly fetch: typeof globalThis.fetch | undefined
  readonly limiter: RateLimiterFactory | undefined
}

export function checkOptions(options: TokenManagerOptions): CheckedOptions {
  const given = ownOptions(options, 'options', [
    'issuers',
    'apis',
    'environment',
    'store',
    'limiter',
    'observe',
    'fetch',
  ])
  const environment = new Environment(given['environment'])
  const issuers = checkIssuers(given['issuers'], environment, given['fetch'] !== undefined)
  return {
    issuers,
    apis: checkApis(given['apis'], issuers, environment),
    store: checkStore(given['store']),
    observers: checkObservers(given['observe']),
    fetch: checkFetch(given['fetch']),
    limiter: checkLimiterFactory(given['limiter']),
  }
}

function checkIssuers(
  value: unknown,
  environment: Environment,
  ownFetch: boolean,
): ReadonlyMap<string, CheckedIssuer> {
  mustBeObject(value, 'issuers')
  const checks = Object.entries(value).map(([name, options]): [string, () => CheckedIssuer] => [
    name,
    () => checkIssuer(options, `issuers.${name}`, environment, ownFetch),
  ])
  if (checks.length === 0) refuse('issuers', 'empty', 'one issuer or more, by name')
  const issuers = Object.entries(checkAll(Object.fromEntries(checks)))
  for (const [index, [name, { place, tokenPath }]] of issuers.entries())
    for (const [other, { place: otherPlace, tokenPath: otherPath }] of issuers.slice(0, index)) {
      // the service's issuers are different servers; two of them on one origin are a copy-paste
      const bothOfService = tokenPath !== undefined && otherPath !== undefined
      if (bothOfService && tokenPath !== otherPath && place.origin === otherPlace.origin)
        refuse(
          `issuers.${name}.authUrl`,
          `on the same origin as \`issuers.${other}.authUrl\` (${place.origin})`,
          'an origin for each of the two issuers',
        )
    }
  return new Map(issuers)
}

function checkApis(
  value: unknown,
  issuers: ReadonlyMap<string, CheckedIssuer>,
  environment: Environment,
): CheckedOptions['apis'] {
  if (!Array.isArray(value)) refuse('apis', shape(value), 'an array, which may be empty')
  const places = new Map<string, string>()
  return value.map((given: unknown, index) => {
    const path = `apis[${index}]`
    const api = ownOptions(given, path, ['baseUrl', 'issuer', 'ratePolicy', 'resend'])
    const issuer = mustBeText(api['issuer'], `${path}.issuer`, known(issuers))
    const options = issuers.get(issuer)
    if (options === undefined) refuse(`${path}.issuer`, 'no name from `issuers`', known(issuers))
    const baseUrl = environment.url(api['baseUrl'], `${path}.baseUrl`, options.allowInsecureLoopback).href
    const place = baseUrl.replace(/\/+$/, '')
    const other = places.get(place)
    if (other !== undefined)
      refuse(`${path}.baseUrl`, `the same as \`${other}\``, 'one API for each base URL')
    places.set(place, `${path}.baseUrl`)
    const policy = api['ratePolicy']
    const ratePolicy = policy === undefined ? undefined : checkRatePolicy(policy, `${path}.ratePolicy`)
    return { baseUrl, issuer, ratePolicy, resend: checkResend(api['resend'], `${path}.resend`) }
  })
}

function checkResend(value: unknown, path: string): boolean | readonly string[] {
  if (value === undefined) return true
  if (typeof value === 'boolean') return value
  const allowed = "true, false or methods in capital letters, such as ['GET', 'HEAD']"
  if (!Array.isArray(value)) refuse(path, shape(value), allowed)
  for (const [index, method] of value.entries())
    if (typeof method !== 'string' || !/^[A-Z]+(?:-[A-Z]+)*$/.test(method))
      refuse(`${path}[${index}]`, shape(method), allowed)
  return [...value] as string[]
}

function checkStore(value: unknown): TokenStore | undefined {
  if (value === undefined) return undefined
  for (const method of ['claim', 'write', 'release', 'drop'])
    if (typeof (value as Record<string, unknown> | null)?.[method] !== 'function')
      refuse('store', shape(value), 'a token store, with claim, write, release and drop')
  return value as TokenStore
}

function checkObservers(value: unknown): readonly Observer[] {
  const observers: readonly unknown[] = value === undefined ? [] : Array.isArray(value) ? value : [value]
  for (const observer of observers)
    if (typeof observer !== 'function')
      refuse('observe', shape(observer), 'a function or an array of functions')
  return observers as readonly Observer[]
}

function checkFetch(value: unknown): typeof globalThis.fetch | undefined {
  if (value !== undefined && typeof value !== 'function') refuse('fetch', shape(value), 'a fetch function')
  return value as typeof globalThis.fetch | undefined
}

function checkLimiterFactory(value: unknown): RateLimiterFactory | undefined {
  if (value !== undefined && typeof value !== 'function')
    refuse('limiter', shape(value), 'a function that makes a limiter for an API')
  return value as RateLimiterFactory | undefined
}

/** What is allowed where an issuer is named. */
export function known(issuers: ReadonlyMap<string, unknown>): string {
  return `one of ${[...issuers.keys()].join(', ')}`
}
