import { allOf, isRecord, mustBeObject, own, refuse, shape } from '../options/check.ts'
import { readEnvironment, urlsOf } from '../options/urls.ts'
import { aFunction, object, optional, type ReadAs, type Reader } from '../options/reader.ts'
import type { Observer } from '../events.ts'
import { type CheckedIssuer, checkIssuer } from '../issuer/check-issuer.ts'
import type { RateLimiterFactory } from '../queue/rate-limiter.ts'
import { type SharedStore, sharing } from '../store/token-store.ts'
import { type CheckedApi, readApis } from './check-apis.ts'
import type { TokenManagerOptions } from './manager-options.ts'

/** A manager's options, as they are used. */
export type CheckedOptions = ReadAs<
  TokenManagerOptions,
  {
    environment: string | undefined
    issuers: ReadonlyMap<string, CheckedIssuer>
    apis: readonly CheckedApi[]
    store: SharedStore | undefined
    limiter: RateLimiterFactory | undefined
    observe: readonly Observer[]
    fetch: typeof globalThis.fetch | undefined
  }
>

/**
 * Returns a manager's options with their defaults in place.
 *
 * @param others names of the other options, where all of them were given in one object, with those of the one issuer.
 * @throws TokenlaneError `INVALID_OPTIONS` or `INSECURE_TRANSPORT`, naming all options that are wrong.
 */
export function checkOptions(options: TokenManagerOptions, others?: readonly string[]): CheckedOptions {
  const inOne = others && 'options'
  const readUrl = urlsOf(own(options, 'environment'))
  const issuers = own(options, 'issuers')
  return object<CheckedOptions>({
    environment: readEnvironment,
    issuers(given, issuersPath) {
      mustBeObject(given, issuersPath)
      const entries = Object.entries(given)
      if (entries.length === 0) refuse(issuersPath, 'empty', 'one or more issuers, by name')
      const ownFetch = own(options, 'fetch') !== undefined
      const read = allOf(
        entries.map(([name, one]) => () => {
          const issuerPath = inOne ?? `${issuersPath}.${name}`
          return [name, checkIssuer(one, issuerPath, readUrl, ownFetch, others)] as const
        }),
      )
      mustHaveOwnOrigins(read.map(([, issuer]) => issuer))
      return new Map(read)
    },
    apis: readApis(isRecord(issuers) ? issuers : {}, readUrl, inOne),
    store: optional(readStore),
    limiter: optional(aFunction<RateLimiterFactory>('a function that creates a limiter for an API')),
    observe: optional(readObservers, []),
    fetch: optional(aFunction<typeof globalThis.fetch>('a fetch function')),
  })(options, 'options')
}

/** Refuses the service's two issuers on one origin: they are different servers, so one URL was copied by mistake. */
function mustHaveOwnOrigins(issuers: readonly CheckedIssuer[]): void {
  const ofService = issuers.filter(({ tokenPath }) => tokenPath !== undefined)
  for (const { tokenPath, url, option } of ofService) {
    const [first] = ofService.filter((other) => other.url.origin === url.origin) as [CheckedIssuer]
    if (tokenPath !== first.tokenPath)
      refuse(
        option,
        `on the same origin as \`${first.option}\` (${url.origin})`,
        'different origins for the two issuers',
      )
  }
}

const readStore: Reader<SharedStore> = (value, path) => {
  if (isRecord(value) && sharing in value) return value as unknown as SharedStore
  return refuse(
    path,
    isRecord(value) && 'claim' in value ? 'a bare token store' : shape(value),
    '`redisTokenStore(...)` from @tokenlane/redis, or `sharedStore(store)` from @tokenlane/core/fleet',
  )
}

const readObservers: Reader<readonly Observer[]> = (value, path) => {
  const read = aFunction<Observer>('a function or an array of functions')
  return [value].flat().map((observer) => read(observer, path))
}
