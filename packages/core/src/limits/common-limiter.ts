import { limiterOf } from './memory-limiter.ts'
import type {
  Claim,
  LimitedApi,
  LimitInForce,
  RateLimiter,
  RateLimiterFactory,
  Word,
} from './rate-limiter.ts'
import { isOfName } from './demand.ts'

/**
 * Returns what makes the limiters of APIs that have named limits in common: views of one limiter, which keeps the units of
 * a name once, and everything else for each API.
 *
 * @param scope names the limiter, in the place of a base URL.
 */
export function commonLimiter(scope: string, create: RateLimiterFactory | undefined): RateLimiterFactory {
  const apis = new Map<string, LimitedApi>()
  let common: RateLimiter | undefined

  function all(act: (api: LimitedApi) => void): void {
    for (const api of apis.values()) act(api)
  }

  function start(): RateLimiter {
    return limiterOf(create, {
      baseUrl: scope,
      unitsAvailable: () => all((api) => api.unitsAvailable()),
      heard(word) {
        const [about = '', baseUrl = ''] = word.about.split(' ')
        apis.get(baseUrl)?.heard({ ...word, about })
      },
      // which API they are for is not known
      counted() {},
      failed: (reason) => all((api) => api.failed(reason)),
      recovered: () => all((api) => api.recovered()),
    })
  }

  return (api) => {
    const { baseUrl } = api
    apis.set(baseUrl, api)
    const units = (common ??= start())
    const known = new WeakMap<readonly LimitInForce[], Claim>()
    const ownOf = (claim: Claim): Claim => {
      const found = known.get(claim.limits)
      if (found !== undefined) return found
      const limits = claim.limits.map((limit) =>
        isOfName(limit.series) ? limit : { ...limit, series: `${baseUrl} ${limit.series}` },
      )
      const own = { ...claim, key: `${baseUrl} ${claim.key}`, limits }
      known.set(claim.limits, own)
      return own
    }
    return {
      take: (claim, wanted) => units.take(ownOf(claim), wanted),
      forecast: (claim, ahead, lag, from) => units.forecast(ownOf(claim), ahead, lag, from),
      usage: (claim, at) => units.usage(ownOf(claim), at),
      tell: (word: Word) => units.tell({ ...word, about: `${word.about} ${baseUrl}` }),
      async close() {
        apis.delete(baseUrl)
        if (apis.size === 0) await units.close()
      },
    }
  }
}
