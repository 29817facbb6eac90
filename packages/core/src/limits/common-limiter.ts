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

/** The name of the common limiter, in the place of a base URL. */
const scope = 'named limits'

/**
 * Returns a factory for APIs with named limits. Their limiters are views of one limiter, which keeps the units of a name
 * once, and everything else for each API.
 */
export function commonLimiter(create: RateLimiterFactory | undefined): RateLimiterFactory {
  const apis = new Set<LimitedApi>()
  let common: RateLimiter | undefined

  function start(): RateLimiter {
    return limiterOf(create, {
      baseUrl: scope,
      unitsAvailable: () => apis.forEach((api) => api.unitsAvailable()),
      heard(word) {
        const [about = '', baseUrl] = word.about.split(' ')
        for (const api of apis) if (api.baseUrl === baseUrl) api.heard({ ...word, about })
      },
      // which API they are for is not known
      counted() {},
      failed: (reason) => apis.forEach((api) => api.failed(reason)),
      recovered: () => apis.forEach((api) => api.recovered()),
    })
  }

  return (api) => {
    const { baseUrl } = api
    apis.add(api)
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
        apis.delete(api)
        if (apis.size > 0) return
        common = undefined
        await units.close()
      },
    }
  }
}
