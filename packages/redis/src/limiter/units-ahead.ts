import { Grants } from './grants.ts'
import { type Batch, type Ledger, lease } from './ledger.ts'
import type { BudgetResponse } from './protocol.ts'
import type { Runtime, Timer } from './runtime.ts'

/** What becomes of units that Redis granted ahead. */
export interface UnitsListener {
  /** Units are due: calls may take them now. */
  due(): void
  /** No call takes these units. */
  unused(batch: Batch, count: number): void
}

/** The units that Redis granted to this process ahead: each is offered when it is due, and given back if unused. */
export class UnitsAhead {
  readonly #runtime: Runtime
  readonly #ledger: Ledger
  readonly #listener: UnitsListener
  readonly #grants = new Grants()
  #timer: Timer | undefined

  constructor(runtime: Runtime, ledger: Ledger, listener: UnitsListener) {
    this.#runtime = runtime
    this.#ledger = ledger
    this.#listener = listener
  }

  get count(): number {
    return this.#grants.count
  }

  /** Returns when the `n`-th unit is due. */
  dueAt(n: number): number {
    return this.#grants.dueAt(n)
  }

  take(): Batch | undefined {
    return this.#grants.take(this.#runtime.now())
  }

  /**
   * Adds what Redis granted in its response to a request that left at `sentAt`; returns how many units that are.
   *
   * @param longestUnreported how long after the promise a process may find out that it does not hold, in milliseconds.
   */
  add({ grants, promise }: BudgetResponse, sentAt: number, longestUnreported: number): number {
    const now = this.#runtime.now()
    let granted = 0
    for (const [due, count] of grants) {
      const dueAt = sentAt + due
      // what was promised and is late may still come before it is worth a request
      const reportAt = promise === lease ? dueAt + lease / 3 : dueAt + promise + longestUnreported
      // a process that stood still or is cut off cannot report in time that its units are under way
      const useBy = promise === lease ? dueAt + 0.7 * lease : reportAt
      this.#grants.add(now + due, useBy, this.#ledger.open(count, dueAt, dueAt + promise, reportAt), count)
      granted += count
    }
    return granted
  }

  /** Offers the units that are due, gives back what no call takes, and goes on when more are due. */
  offer(): void {
    this.#timer?.cancel()
    if (this.#grants.nextDueAt <= this.#runtime.now()) {
      this.#listener.due()
      this.drop(this.#runtime.now())
    }
    const wait = this.#grants.nextDueAt - this.#runtime.now()
    if (wait < Infinity) this.#timer = this.#runtime.after(wait, () => this.offer())
  }

  /** Gives back the units that are due at `until`. */
  drop(until: number): void {
    for (const { batch, left } of this.#grants.drop(until)) this.#listener.unused(batch, left)
  }

  stop(): void {
    this.#timer?.cancel()
  }
}
