import type { TokenManagerOptions } from '../manager/manager-options.ts'
import type { LimitedApi, RateLimiterFactory } from '../queue/limiter-factory.ts'
import { FairLimits } from './fair-limits.ts'

/** Decides which limits a tenant has. */
interface LimitsOfTenants {
  /** Returns the options of a tenant, with the limiter that keeps its limits. */
  optionsFor<Options extends TokenManagerOptions>(id: string, options: Options): Options
  /** Ends what tenants share, after the last of them was closed. */
  close(): Promise<void>
}

/** Returns limits that each tenant has to itself, or those that all tenants share. */
export function limitsOf(limits: 'own' | 'shared'): LimitsOfTenants {
  return limits === 'own' ? { optionsFor: ownLimits, async close() {} } : sharedLimits()
}

/** A limiter keeps one budget for each base URL, so a tenant's own one is kept under its name. */
function ownLimits<Options extends TokenManagerOptions>(id: string, options: Options): Options {
  return withLimiter(
    options,
    (create) => create && ((api) => create({ ...api, baseUrl: `${api.baseUrl}#${encodeURIComponent(id)}` })),
  )
}

function sharedLimits(): LimitsOfTenants {
  const all = new Map<string, FairLimits>()
  return {
    optionsFor: (_, options) =>
      withLimiter(options, (create) => (api) => {
        const key = keyOf(api)
        const shared = all.get(key) ?? new FairLimits(api, create)
        all.set(key, shared)
        return shared.join(api)
      }),
    async close() {
      await Promise.all(Array.from(all.values(), (shared) => shared.close()))
    },
  }
}

/** What tenants have in common that share the limits of an API. */
function keyOf({ baseUrl, limits, spread, accounting, unansweredGrace }: LimitedApi): string {
  return JSON.stringify([baseUrl, limits, spread, accounting, unansweredGrace])
}

function withLimiter<Options extends TokenManagerOptions>(
  options: Options,
  change: (create: RateLimiterFactory | undefined) => RateLimiterFactory | undefined,
): Options {
  const given: unknown = options.limiter
  // anything else is refused with the other options
  if (given !== undefined && typeof given !== 'function') return options
  return { ...options, limiter: change(given as RateLimiterFactory | undefined) }
}
