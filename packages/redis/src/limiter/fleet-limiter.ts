import type {
  LimitedApi,
  NotBefore,
  Permit,
  RateLimiter,
  RateLimiterOptions,
  RemainingQuota,
} from '@tokenlane/core/fleet'
import { FallbackLimiter } from './fallback-limiter.ts'
import { silenceBeforeFallback } from './fleet-policy.ts'
import { type BudgetOptions, SharedBudget } from './shared-budget.ts'

/** What the limiter of one API in one process needs. */
export interface FleetLimiterOptions extends BudgetOptions {
  readonly fallbackShare: number
}

/**
 * The limiter of one API in one process of a fleet: the shared budget while Redis responds, the process's own share
 * while it does not.
 */
export class FleetLimiter implements RateLimiter {
  readonly #api: LimitedApi
  readonly #options: FleetLimiterOptions
  readonly #budget: SharedBudget
  #fallback: FallbackLimiter
  #isAlone = false

  constructor(api: LimitedApi, options: FleetLimiterOptions) {
    const { fallbackShare, runtime } = options
    this.#api = api
    this.#options = options
    this.#fallback = new FallbackLimiter(api, fallbackShare, runtime)
    this.#budget = new SharedBudget(api, options, {
      unitsAvailable: () => api.unitsAvailable(),
      paused: (ms) => api.paused(ms),
      resumed: () => api.resumed(),
      lost: (reason) => this.#separate(reason),
      found: () => this.#rejoin(),
    })
  }

  take(couldUse: number): Permit | NotBefore {
    if (!this.#isAlone) return this.#budget.take(couldUse)
    const share = this.#fallback.take()
    return typeof share === 'number' ? share : this.#budget.takeShare(share)
  }

  forecast(ahead: number, lag: number, from: number = Number.NEGATIVE_INFINITY): number {
    return (this.#isAlone ? this.#fallback : this.#budget).forecast(ahead, lag, from)
  }

  lag(): number {
    return this.#budget.arrivals.lag
  }

  arrivesWithin(): number {
    return this.#budget.arrivals.bound
  }

  noWaiters(): void {
    this.#budget.noWaiters()
  }

  used(): number | undefined {
    return this.#isAlone ? undefined : this.#budget.used()
  }

  unitsLeft(): number | undefined {
    return this.#isAlone ? undefined : this.#budget.unitsLeft()
  }

  reported(quota: RemainingQuota): void {
    this.#budget.reported(quota)
  }

  pause(ms: number): void {
    this.#budget.pause(ms)
  }

  resume(): void {
    this.#budget.resume()
  }

  setPolicy(policy: RateLimiterOptions): void {
    this.#budget.setPolicy(policy)
    this.#fallback = new FallbackLimiter(policy, this.#options.fallbackShare, this.#options.runtime)
    if (this.#isAlone) this.#beginAlone()
  }

  close(): Promise<void> {
    return this.#budget.close()
  }

  #separate(reason: string): void {
    this.#isAlone = true
    this.#beginAlone()
    this.#api.failed(reason)
    this.#api.unitsAvailable()
  }

  #beginAlone(): void {
    this.#fallback.begin(silenceBeforeFallback(this.#budget.policy), this.#budget.membership)
  }

  #rejoin(): void {
    this.#isAlone = false
    this.#api.recovered()
    this.#api.unitsAvailable()
  }
}
