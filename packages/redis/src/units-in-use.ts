import {
  createUnansweredGrace,
  type LimitedApi,
  type Permit,
  type UnansweredGrace,
} from '@tokenlane/core/fleet'
import { AnswerTimes } from './answer-times.ts'
import { FleetPermit, type PermitOwner } from './fleet-permit.ts'
import type { Batch, Ledger } from './ledger.ts'
import type { Runtime } from './runtime.ts'

/** Whether Redis must hear of the end of a call. */
export interface UseListener {
  /** A unit was answered, `late` milliseconds after the time at which Redis presumes it. */
  ended(late: number): void
  unused(batch: Batch, count: number): void
}

/** The permits of calls under way: notes in the ledger when each call ended, and learns how long responses take. */
export class UnitsInUse {
  readonly #runtime: Runtime
  readonly #ledger: Ledger
  readonly #listener: UseListener
  readonly #grace: UnansweredGrace
  readonly answerTimes: AnswerTimes = new AnswerTimes()
  accounting: LimitedApi['accounting']
  readonly #owner: PermitOwner = {
    ended: (batch, answered) => {
      const now = this.#runtime.now()
      this.answerTimes.add(now - batch.dueAt, now)
      this.#end(batch, answered)
    },
    unused: (batch) => this.#listener.unused(batch, 1),
  }
  /** Of units that Redis did not grant: when they were due says nothing of how long Redis' units take. */
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

  /** Returns a permit for a unit of the process's own share, of which Redis hears when it is back. */
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
