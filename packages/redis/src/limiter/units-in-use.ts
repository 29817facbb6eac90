import {
  Arrivals,
  type LimitedApi,
  type Permit,
  type RateLimiterOptions,
  type SentRequest,
} from '@tokenlane/core/fleet'
import { ResponseTimes } from './response-times.ts'
import { FleetPermit, type PermitOwner } from './fleet-permit.ts'
import type { Batch, Ledger } from './ledger.ts'
import type { Runtime } from './runtime.ts'

/** What becomes of units in use. */
export interface UseListener {
  /** A request has arrived at the latest `late` milliseconds after the time at which Redis presumes it. */
  ended(late: number): void
  /** A request may arrive later than was known when it was sent. */
  delayed(): void
  unused(batch: Batch, count: number): void
}

/**
 * Gives permits to calls, notes in the ledger when the request of each has arrived at the latest, and learns how long
 * after its due time that is.
 */
export class UnitsInUse {
  readonly #runtime: Runtime
  readonly #ledger: Ledger
  readonly #listener: UseListener
  readonly arrivals: Arrivals
  readonly responseTimes: ResponseTimes = new ResponseTimes()
  readonly #owner: PermitOwner = {
    ended: (batch, arrivedAt) => {
      this.responseTimes.add(arrivedAt - batch.dueAt, this.#runtime.now())
      this.#end(batch, arrivedAt)
    },
    unused: (batch) => this.#listener.unused(batch, 1),
  }
  /** Of units of the process's own share: when they were due does not show how long units of Redis take. */
  readonly #shareOwner: PermitOwner = {
    ended: (batch, arrivedAt) => this.#end(batch, arrivedAt),
    unused: (batch) => this.#listener.unused(batch, 1),
  }

  constructor(api: LimitedApi, runtime: Runtime, ledger: Ledger, listener: UseListener) {
    this.#runtime = runtime
    this.#ledger = ledger
    this.#listener = listener
    const moved = ({ latest }: SentRequest, from: number): void => {
      if (latest > from) listener.delayed()
    }
    this.arrivals = new Arrivals(runtime, moved, false)
    this.setPolicy(api)
  }

  setPolicy({ limits, accounting, unansweredGrace }: RateLimiterOptions): void {
    this.arrivals.setPolicy(accounting, unansweredGrace, Math.max(0, ...limits.map(({ window }) => window)))
  }

  /** Returns a permit for a unit that Redis granted. */
  permit(batch: Batch): Permit {
    const request = this.arrivals.send()
    const latest = this.#ledger.sent(batch, request)
    // where responses take too different times, Redis presumes less than is known when the last one is sent
    if (latest < batch.presumedAt) this.#listener.ended(latest - batch.presumedAt)
    return new FleetPermit(this.#owner, this.arrivals, request, batch)
  }

  /** Returns a permit for a unit of the process's own share, which is reported when Redis is reached again. */
  sharePermit(share: Permit): Permit {
    const now = this.#runtime.now()
    const batch = this.#ledger.open(1, now, now, Number.NEGATIVE_INFINITY)
    const request = this.arrivals.send()
    this.#ledger.sent(batch, request)
    return new FleetPermit(this.#shareOwner, this.arrivals, request, batch, share)
  }

  #end(batch: Batch, arrivedAt: number): void {
    this.#ledger.settle(batch, arrivedAt)
    this.#listener.ended(arrivedAt - batch.presumedAt)
  }
}
