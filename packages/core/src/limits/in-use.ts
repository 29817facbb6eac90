import type { NamedLimit } from '../events.ts'
import type { Claims } from './claims.ts'
import type { Demand } from './demand.ts'
import type { FixedLimit, LimitInForce, RateLimiter, Usage } from './rate-limiter.ts'
import { namesOf } from './rate-policy.ts'

export interface LimitStatus extends NamedLimit {
  /**
   * The units in use; of a limit for each value of a path, those of the value that has used most. Missing while the
   * limiter does not know, and before the first call of this process that counts.
   */
  readonly used?: number
}

interface Filling extends Pick<Usage, 'lag' | 'arrivesWithin'> {
  /** The used share of the fullest limit, and how many units are left in the emptiest; `undefined` while not known. */
  readonly share: number | undefined
  readonly left: number | undefined
}

export class InUse {
  readonly #limiter: Pick<RateLimiter, 'usage'>
  readonly #claims: Claims

  constructor(limiter: Pick<RateLimiter, 'usage'>, claims: Claims) {
    this.#limiter = limiter
    this.#claims = claims
  }

  /** @param at a moment of the monotonic clock. */
  of(demand: Demand = this.#claims.demands.plain, at?: number): Filling {
    const claim = this.#claims.of(demand, performance.now())
    const { used, lag, arrivesWithin } = this.#limiter.usage(claim, at)
    const { limits } = claim
    const left = used && Math.min(...limits.map(({ quota }, index) => quota - (used[index] ?? 0)))
    const share = used && Math.max(0, ...limits.map(({ quota }, index) => (used[index] ?? 0) / quota))
    return { lag, arrivesWithin, share, left }
  }

  /** The used share of the fullest limit, whichever calls it counts; `undefined` while not known. */
  get fullest(): number | undefined {
    const shares = this.#claims.demands.all.flatMap((demand) => this.of(demand).share ?? [])
    return shares.length > 0 ? Math.max(...shares) : undefined
  }

  get rows(): LimitStatus[] | undefined {
    const { policy, demands } = this.#claims
    const rows = policy.limits.flatMap((limit, index): LimitStatus[] => {
      const { quota, window, name, match } = limit
      if (name === undefined && match === undefined) return []
      const used = demands.all.flatMap((demand) => this.#ofLimit(index, demand) ?? [])
      return [{ ...namesOf(limit), quota, window, ...(used.length > 0 && { used: Math.max(...used) }) }]
    })
    return rows.length > 0 ? rows : undefined
  }

  /** Returns the series of limits of which no further call can take its units now. */
  fullSeries(demand: Demand, now: number): readonly string[] {
    const claim = this.#claims.of(demand, now)
    const { used, held = 0 } = this.#limiter.usage(claim)
    if (held > 0) return []
    const isFull = ({ quota }: LimitInForce, index: number): boolean =>
      used === undefined || (used[index] ?? 0) + Math.min(claim.cost, quota) > quota
    return claim.limits.filter(isFull).map(({ series }) => series)
  }

  isTried(trial: FixedLimit): boolean {
    const claim = this.#claims.of(this.#claims.demands.plain, performance.now(), trial)
    return (this.#limiter.usage(claim).used?.at(-1) ?? 0) > 0
  }

  #ofLimit(index: number, demand: Demand): number | undefined {
    if (demand.series[index] === undefined) return undefined
    const before = demand.series.slice(0, index).filter((series) => series !== undefined).length
    return this.#limiter.usage(this.#claims.of(demand, performance.now())).used?.[before]
  }
}
