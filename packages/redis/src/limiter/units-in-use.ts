import {
  createUnansweredGrace,
  type LimitedApi,
  type Permit,
  type UnansweredGrace,
} from '@tokenlane/core/fleet'
import { ResponseTimes } from './response-times.ts'
import { FleetPermit, type PermitOwner } from './fleet-permit.ts'
import type { Batch, Ledger } from './ledger.ts'
import type { Runtime } from './runtime.ts'

/** What becomes of units in use. */
export interface UseListener {
  /** A unit was answered, `late` milliseconds after the time at which Redis presumes it. */
  ended(late: number): void
  unused(batch: Batch, count: number): void
}

/** Gives permits to calls, notes in the ledger when each call ended, and learns how long responses take. */
export class UnitsInUse {
  readonly #runtime: Runtime
  readonly #ledger: Ledger
  readonly #listener: UseListener
  readonly #grace: UnansweredGrace
  readonly responseTimes: ResponseTimes = new ResponseTimes()
  accounting: LimitedApi['accounting']
  readonly #owner: PermitOwner = {
    ended: (batch, answered) => {
      const now = this.#runtime.now()
      this.responseTimes.add(now - batch.dueAt, now)
      this.#end(batch, answered)
    },
    unused: (batch) => this.#listener.unused(batch, 1),
  }
  /** Of units of the process's own share: when they were due does not show how long units of Redis take. */
  readonly #shareOwner: PermitOwner = {
    ended: (batch, answered) => this.#end(batch, answered),
    unused: (batch) => this.#listener.unused(batch, 1),
  }

  constructor(
    { accounting, unansweredGrace }: LimitedApi,
    runtime: Runtime,
    ledger: Ledger,
    listener: UseListener,
  ) {
    this.accounting = accounting
    this.#grace = createUnansweredGrace(unansweredGrace)
    this.#runtime = runtime
    this.#ledger = ledger
    this.#listener = listener
  }

  /** Returns a permit for a unit that Redis granted. */
  permit(batch: Batch): Permit {
    return this.#begin(new FleetPermit(this.#owner, batch))
  }

  /** Returns a permit for a unit of the process's own share, which is reported when Redis is reached again. */
  sharePermit(share: Permit): Permit {
    const now = this.#runtime.now()
    const batch = this.#ledger.open(1, now, now, Number.NEGATIVE_INFINITY)
    return this.#begin(new FleetPermit(this.#shareOwner, batch, share))
  }

  #begin(permit: Permit): Permit {
    if (this.accounting === 'send') permit.answered()
    return permit
  }

  #end(batch: Batch, answered: boolean): void {
    const now = this.#runtime.now()
    if (answered) this.#grace.sawRoundTrip(now - batch.dueAt)
    else this.#grace.sawNoResponse(now - batch.dueAt)
    const at = answered ? now : now + this.#grace.ms
    this.#ledger.settle(batch, at)
    this.#listener.ended(at - batch.presumedAt)
  }
}
