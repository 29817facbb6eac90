import { isRecord, own, refuse } from '../options/check.ts'
import { readEnvironment, urlsOf } from '../options/urls.ts'
import {
  aFunction,
  fitting,
  object,
  oneOf,
  optional,
  type ReadAs,
  type Reader,
  record,
} from '../options/reader.ts'
import type { Observer } from '../events.ts'
import { type CheckedIssuer, checkIssuer } from '../issuer/check-issuer.ts'
import type { RateLimiterFactory } from '../limits/rate-limiter.ts'
import { type SharedStore, sharing } from '../store/token-store.ts'
import { type CheckedApi, readApis } from './check-apis.ts'
import type { TokenManagerOptions } from './manager-options.ts'

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
    runtime: 'server' | undefined
  }
>

/** Checks a manager's options and fills in defaults. `others` are names of other options in the same object. */
export function checkOptions(options: TokenManagerOptions, others?: readonly string[]): CheckedOptions {
  const inOne = others && 'options'
  const readUrl = urlsOf(own(options, 'environment'))
  const issuers = own(options, 'issuers')
  return object<CheckedOptions>({
    environment: readEnvironment,
    issuers(given, issuersPath) {
      const ownFetch = own(options, 'fetch') !== undefined
      const read = record((one, issuerPath) =>
        checkIssuer(one, inOne ?? issuerPath, readUrl, ownFetch, others),
      )(given, issuersPath)
      if (read.length === 0) refuse(issuersPath, 'empty', 'one or more issuers, by name')
      mustHaveOwnOrigins(read.map(([, issuer]) => issuer))
      return new Map(read)
    },
    apis: readApis(isRecord(issuers) && !Array.isArray(issuers) ? issuers : {}, readUrl, inOne),
    store: optional(readStore),
    limiter: optional(aFunction<RateLimiterFactory>("a function that creates an API's limiter")),
    observe: optional(readObservers, []),
    fetch: optional(aFunction<typeof globalThis.fetch>('a fetch function')),
    runtime: readRuntime,
  })(options, 'options')
}

/** Refuses the service's two issuers on one origin: they are different servers, so one URL was copied by mistake. */
function mustHaveOwnOrigins(issuers: readonly CheckedIssuer[]): void {
  const ofService = issuers.filter(({ tokenPath }) => tokenPath !== undefined)
  for (const { tokenPath, url, option } of ofService) {
    const first = ofService.find((other) => other.url.origin === url.origin) as CheckedIssuer
    if (tokenPath !== first.tokenPath)
      refuse(option, `on the same origin as \`${first.option}\` (${url.origin})`, 'an origin per issuer')
  }
}

export const readRuntime: Reader<'server' | undefined> = optional(oneOf(['server']))

const readStore = fitting<SharedStore>(
  (value) => isRecord(value) && sharing in value,
  '`redisTokenStore` from @tokenlane/redis, or `sharedStore` from @tokenlane/core/fleet',
)

const readObservers: Reader<readonly Observer[]> = (value, path) => {
  const read = aFunction<Observer>('a function or an array of functions')
  return [value].flat().map((observer) => read(observer, path))
}
