import type {
  LimitedApi,
  NotBefore,
  Permit,
  RateLimiter,
  RateLimiterOptions,
  RemainingQuota,
} from '@tokenlane/core/fleet'
import { BudgetLevel } from './budget-level.ts'
import { BudgetSync, type SyncOptions } from './budget-sync.ts'
import { Demand } from './demand.ts'
import { FallbackLimiter } from './fallback-limiter.ts'
import { FleetPause } from './fleet-pause.ts'
import { fleetPolicy, shortestSpan, silenceBeforeFallback } from './fleet-policy.ts'
import { type Batch, Ledger } from './ledger.ts'
import type { Link } from './link.ts'
import type { BudgetResponse } from './protocol.ts'
import { Reachability } from './reachability.ts'
import { UnitsAhead } from './units-ahead.ts'
import { UnitsInUse } from './units-in-use.ts'

/** What the limiter of one API in one process needs; times in milliseconds. */
export interface FleetLimiterOptions extends SyncOptions {
  readonly link: Pick<Link, 'errors' | 'isBypassed' | 'bypass'>
  readonly fallbackShare: number
  readonly reconnectTime: number
}

/**
 * The limiter of one API in one process of a fleet: the budget that all share while Redis responds, the process's own
 * share while it does not, and afterwards until all have returned.
 *
 * A process sends a request when calls wait for units and its turn has come, when Redis must know of its units, and when
 * something else has changed. Each request states everything, and asks for what calls could use. The response grants
 * units ahead, each with the time at which it is due, or says when to ask again.
 *
 * | part              | what it knows, with its states                                          |
 * | ----------------- | ----------------------------------------------------------------------- |
 * | `Demand`          | what calls could use, and when the turn of the process comes            |
 * | `UnitsAhead`      | units that are granted and not taken                                    |
 * | `UnitsInUse`      | units of calls under way                                                |
 * | `Ledger`          | all units that count in a window                                        |
 * | `FleetPause`      | the pause of this process, and that of all                              |
 * | `BudgetLevel`     | how full the budget is, by Redis and by the API                         |
 * | `Reachability`    | whether Redis is reached: `together`, `away`, `returning`               |
 * | `FallbackLimiter` | what the process may send without Redis: `silent`, `sharing`            |
 * | `BudgetSync`      | what requests report, and what follows from responses, with:            |
 * | `RequestSchedule` | when the next request leaves: `open`, `last`, `closing`, `closed`       |
 * | `RedisRequests`   | the request under way: `free`, `asking`, `resting`                      |
 */
export class FleetLimiter implements RateLimiter {
  readonly #api: LimitedApi
  readonly #options: FleetLimiterOptions
  readonly #demand = new Demand()
  readonly #ledger: Ledger
  readonly #ahead: UnitsAhead
  readonly #inUse: UnitsInUse
  readonly #pause = new FleetPause()
  readonly #level = new BudgetLevel()
  readonly #reachability: Reachability
  readonly #sync: BudgetSync
  #fallback: FallbackLimiter
  /** When this process last asked because a connection was refused: one node of a Cluster may be gone for long. */
  #noticedAt = Number.NEGATIVE_INFINITY

  constructor(api: LimitedApi, options: FleetLimiterOptions) {
    const { link, fallbackShare, reconnectTime, runtime } = options
    this.#api = api
    this.#options = options
    this.#reachability = new Reachability(reconnectTime)
    this.#fallback = new FallbackLimiter(api, fallbackShare, runtime)
    this.#ledger = new Ledger(fleetPolicy(api.limits, api.spread, reconnectTime))
    const unused = (batch: Batch, count: number): void => this.#giveBack(batch, count, false)
    this.#ahead = new UnitsAhead(runtime, this.#ledger, { due: () => api.unitsAvailable(), unused })
    this.#inUse = new UnitsInUse(api, runtime, this.#ledger, {
      ended: (late) => this.#sync.reportResponse(late),
      changed: () => this.#sync.plan(),
      unused: (batch, count) => this.#giveBack(batch, count, true),
    })
    const subjects = {
      demand: this.#demand,
      ledger: this.#ledger,
      ahead: this.#ahead,
      inUse: this.#inUse,
      pause: this.#pause,
      level: this.#level,
      reachability: this.#reachability,
    }
    this.#sync = new BudgetSync(subjects, options, {
      lost: (reason, isNew) => this.#separate(reason, isNew),
      found: () => this.#rejoin(),
      failed: this.#noteError,
      silent: () => this.#bypass(),
      shares: (silence) => this.#share(silence),
      // a refusal that another process got shows how requests of all arrive
      paused: (ms) => {
        this.#inUse.arrivals.refused(ms)
        api.paused(ms)
      },
      resumed: () => api.resumed(),
    })
    link.errors.add(this.#noteError)
  }

  /** Returns a permit for a unit that is due; otherwise asks Redis for `couldUse` units, and reports when they are due. */
  take(couldUse: number): Permit | NotBefore {
    if (this.#sync.isSharing) return this.#takeShare(couldUse)
    const batch = this.#ahead.take()
    this.#demand.wanted = batch === undefined ? couldUse : couldUse - 1
    if (batch !== undefined) return this.#inUse.permit(batch)
    this.#inUse.arrivals.full()
    this.#sync.plan()
    return Infinity
  }

  /** Returns how long `ahead` units take to come, as if those to come were for this process alone. */
  forecast(ahead: number, lag: number, from: number = Number.NEGATIVE_INFINITY): number {
    if (this.#sync.isSharing) return this.#fallback.forecast(ahead, lag, from)
    const now = this.#options.runtime.now()
    const granted = this.#ahead.count
    if (ahead <= granted) return Math.max(from, this.#ahead.dueAt(ahead), now) - now
    const start = Math.max(from, this.#demand.soonest(granted, now))
    const others = ahead - granted - 1
    let wait = others * this.#ledger.policy.interval
    for (const { quota, span } of this.#ledger.policy.limits)
      wait = Math.max(wait, Math.floor(others / quota) * (span + lag))
    return start - now + wait
  }

  lag(): number {
    return this.#inUse.arrivals.lag
  }

  arrivesWithin(): number {
    return this.#inUse.arrivals.bound
  }

  noWaiters(): void {
    this.#demand.wanted = 0
    this.#ahead.drop(Infinity)
    this.#sync.plan()
  }

  used(): number | undefined {
    return this.#known?.used
  }

  unitsLeft(): number | undefined {
    return this.#known?.left
  }

  /** Passes on what a response says that the API still takes. */
  reported(quota: RemainingQuota): void {
    const span = shortestSpan(this.#ledger.policy)
    const isUrgent = this.#level.note(quota, this.#options.runtime.now(), span, this.#inUse.took)
    if (isUrgent) this.#sync.report()
  }

  pause(ms: number): void {
    this.#inUse.arrivals.refused(ms)
    this.#pause.begin(this.#options.runtime.now(), ms)
    this.#sync.report()
  }

  resume(): void {
    this.#pause.lift()
    this.#demand.askAtOnce()
    this.#sync.report()
  }

  setPolicy(policy: RateLimiterOptions): void {
    const { fallbackShare, reconnectTime } = this.#options
    this.#ledger.setPolicy(fleetPolicy(policy.limits, policy.spread, reconnectTime))
    this.#inUse.setPolicy(policy)
    this.#demand.askAtOnce()
    this.#ahead.drop(Infinity)
    this.#sync.report()
    this.#fallback = new FallbackLimiter(policy, fallbackShare, this.#options.runtime)
    if (this.#sync.isSharing) this.#beginSilence()
  }

  /** Gives back the units that no call took, and ends. Stops waiting when Redis does not respond in time. */
  close(): Promise<void> {
    this.#options.link.errors.delete(this.#noteError)
    this.#demand.wanted = 0
    this.#ahead.drop(Infinity)
    return this.#sync.close()
  }

  /** The budget of all processes. */
  get #known(): BudgetResponse | undefined {
    if (this.#sync.isSharing) return undefined
    return this.#level.known(this.#options.runtime.now(), shortestSpan(this.#ledger.policy))
  }

  #giveBack(batch: Batch, count: number, wasSent: boolean): void {
    this.#ledger.giveBack(batch, count, wasSent)
    this.#sync.report()
  }

  /** Takes from the share of the process, and asks Redis for the rest. */
  #takeShare(couldUse: number): Permit | NotBefore {
    const share = this.#fallback.take()
    const isEmpty = typeof share === 'number'
    this.#demand.wanted = isEmpty ? couldUse : couldUse - 1
    this.#sync.plan()
    return isEmpty ? share : this.#inUse.sharePermit(share)
  }

  #separate(reason: string, isNew: boolean): void {
    this.#beginSilence()
    if (isNew) this.#api.failed(reason)
    this.#api.unitsAvailable()
  }

  #beginSilence(): void {
    const silence = silenceBeforeFallback(
      this.#ledger.policy,
      this.#reachability.goneFor(this.#options.runtime.now()),
    )
    this.#fallback.begin(silence, this.#sync.turn)
  }

  /** Where Redis is gone for all, this process need not wait until its turn to notice, nor to find out whether it is cut off alone. */
  readonly #noteError = (error: unknown): void => {
    const now = this.#options.runtime.now()
    this.#reachability.failed(error, now)
    const goneFor = this.#reachability.goneFor(now)
    if (this.#sync.isSharing && goneFor >= 0) {
      this.#fallback.hasten(silenceBeforeFallback(this.#ledger.policy, goneFor))
      this.#api.unitsAvailable()
    } else if (this.#reachability.isRefused(now) && now - this.#noticedAt > this.#options.reconnectTime) {
      this.#noticedAt = now
      this.#demand.askAtOnce()
      this.#sync.plan()
    }
  }

  /** A client whose connection is half open hears of no error; one whose Redis is gone does. */
  #bypass(): void {
    if (!this.#reachability.isRefused(this.#options.runtime.now())) this.#options.link.bypass()
  }

  /** Others may not reach Redis, and send their shares: so does this process, in `silence` milliseconds. */
  #share(silence: number): void {
    if (this.#sync.isSharing) this.#fallback.hasten(silence)
    else this.#fallback.begin(silence, this.#sync.turn)
    this.#api.unitsAvailable()
  }

  #rejoin(): void {
    if (this.#options.link.isBypassed) this.#api.failed('half-open connection: set a socket timeout')
    this.#api.recovered()
    this.#api.unitsAvailable()
  }
}
