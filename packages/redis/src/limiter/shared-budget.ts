import type {
  Arrivals,
  LimitedApi,
  NotBefore,
  Permit,
  RateLimiterOptions,
  RemainingQuota,
} from '@tokenlane/core/fleet'
import { BudgetLevel } from './budget-level.ts'
import { Demand } from './demand.ts'
import { BudgetSync, type SyncListener } from './budget-sync.ts'
import { fleetPolicy, type FleetPolicy, shortestSpan } from './fleet-policy.ts'
import { FleetPause } from './fleet-pause.ts'
import { type Batch, Ledger } from './ledger.ts'
import { Membership } from './membership.ts'
import type { Exchange } from './protocol.ts'
import type { Runtime } from './runtime.ts'
import { UnitsAhead } from './units-ahead.ts'
import { UnitsInUse } from './units-in-use.ts'

/** What the budget of one API needs in one process; times in milliseconds. */
export interface BudgetOptions {
  readonly exchange: Exchange
  /** Names the process. */
  readonly name: string
  readonly timeout: number
  readonly reconnectTime: number
  readonly runtime: Runtime
}

/** What the budget reports. */
export interface BudgetListener extends SyncListener {
  /** Units are due: calls may take them now. */
  unitsAvailable(): void
}

/**
 * The budget that all processes share, seen from one of them.
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
 * | `Membership`      | the name and number of the process, and its place in the history        |
 * | `BudgetLevel`     | how full the budget is, by Redis and by the API                         |
 * | `BudgetSync`      | what requests report, and what follows from responses, with:            |
 * | `Reachability`    | whether Redis is reached: `together`, `away`, `returning`               |
 * | `Unreported`      | what Redis does not know yet: none, can wait, urgent                    |
 * | `RequestSchedule` | when the next request leaves: `open`, `last`, `closing`, `closed`       |
 * | `RedisRequests`   | the request under way: `free`, `asking`, `resting`                      |
 */
export class SharedBudget {
  readonly #runtime: Runtime
  readonly #demand = new Demand()
  readonly #ledger: Ledger
  readonly #ahead: UnitsAhead
  readonly #inUse: UnitsInUse
  readonly #pause = new FleetPause()
  readonly #level = new BudgetLevel()
  readonly #sync: BudgetSync
  /** Where this process stands among the others. */
  readonly membership: Membership

  constructor(api: LimitedApi, options: BudgetOptions, listener: BudgetListener) {
    const { exchange, name, timeout, reconnectTime, runtime } = options
    this.#runtime = runtime
    this.membership = new Membership(name)
    this.#ledger = new Ledger(fleetPolicy(api.limits, api.spread, reconnectTime))
    const unused = (batch: Batch, count: number): void => this.#giveBack(batch, count, false)
    this.#ahead = new UnitsAhead(runtime, this.#ledger, { due: () => listener.unitsAvailable(), unused })
    this.#inUse = new UnitsInUse(api, runtime, this.#ledger, {
      ended: (late) => this.#sync.reportResponse(late),
      delayed: () => this.#sync.plan(),
      unused: (batch, count) => this.#giveBack(batch, count, true),
    })
    const subjects = {
      demand: this.#demand,
      ledger: this.#ledger,
      ahead: this.#ahead,
      inUse: this.#inUse,
      pause: this.#pause,
      membership: this.membership,
      level: this.#level,
    }
    this.#sync = new BudgetSync(subjects, exchange, timeout, runtime, {
      ...listener,
      // a refusal that another process got shows how requests of all arrive
      paused: (ms) => {
        this.arrivals.refused(ms)
        listener.paused(ms)
      },
    })
  }

  get policy(): FleetPolicy {
    return this.#ledger.policy
  }

  /** Returns a permit for a unit that is due; otherwise asks Redis for `couldUse` units, and reports when they are due. */
  take(couldUse: number): Permit | NotBefore {
    const batch = this.#ahead.take()
    this.#demand.want(batch === undefined ? couldUse : couldUse - 1)
    if (batch !== undefined) return this.#inUse.permit(batch)
    this.arrivals.full()
    this.#sync.plan()
    return Infinity
  }

  /** Returns a permit for a unit of the process's own share. */
  takeShare(share: Permit): Permit {
    return this.#inUse.sharePermit(share)
  }

  /** Returns how long `ahead` units take to come, as if those to come were for this process alone. */
  forecast(ahead: number, lag: number, from: number): number {
    const now = this.#runtime.now()
    const granted = this.#ahead.count
    if (ahead <= granted) return Math.max(from, this.#ahead.dueAt(ahead), now) - now
    const start = Math.max(from, this.#demand.soonest(granted, now))
    const others = ahead - granted - 1
    let wait = others * this.policy.interval
    for (const { quota, span } of this.policy.limits)
      wait = Math.max(wait, Math.floor(others / quota) * (span + lag))
    return start - now + wait
  }

  noWaiters(): void {
    this.#demand.want(0)
    this.#ahead.drop(Infinity)
    this.#sync.plan()
  }

  /** How requests of this process arrive. */
  get arrivals(): Arrivals {
    return this.#inUse.arrivals
  }

  pause(ms: number): void {
    this.arrivals.refused(ms)
    this.#pause.begin(this.#runtime.now(), ms)
    this.#sync.report()
  }

  /** Passes on what a response says that the API still takes. */
  reported(quota: RemainingQuota): void {
    const isUrgent = this.#level.note(quota, this.#runtime.now(), shortestSpan(this.policy))
    if (isUrgent) this.#sync.report()
  }

  used(): number | undefined {
    return this.#level.used(this.#runtime.now(), shortestSpan(this.policy))
  }

  unitsLeft(): number | undefined {
    return this.#level.left(this.#runtime.now(), shortestSpan(this.policy))
  }

  resume(): void {
    this.#pause.lift()
    this.#demand.askAtOnce()
    this.#sync.report()
  }

  setPolicy(policy: RateLimiterOptions): void {
    const { limits, spread } = policy
    this.#ledger.setPolicy(fleetPolicy(limits, spread, this.policy.reconnectTime))
    this.#inUse.setPolicy(policy)
    this.#demand.askAtOnce()
    this.#ahead.drop(Infinity)
    this.#sync.report()
  }

  /** Gives back the units that no call took, and ends. Stops waiting when Redis does not respond in time. */
  close(): Promise<void> {
    this.#demand.want(0)
    this.#ahead.drop(Infinity)
    this.#ahead.stop()
    return this.#sync.close()
  }

  #giveBack(batch: Batch, count: number, wasSent: boolean): void {
    this.#ledger.giveBack(batch, count, wasSent)
    this.#sync.report()
  }
}
