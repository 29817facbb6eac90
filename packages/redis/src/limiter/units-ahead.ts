import { longestUnreported } from './fleet-policy.ts'
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

interface Grant {
  /** When the units may be used, at the earliest and at the latest. */
  readonly dueAt: number
  readonly useBy: number
  readonly batch: Batch
  left: number
}

/**
 * The units that Redis granted to this process ahead, in the order in which they are due: each is offered then, and
 * given back if unused.
 */
export class UnitsAhead {
  readonly #runtime: Runtime
  readonly #ledger: Ledger
  readonly #listener: UnitsListener
  #grants: Grant[] = []
  #timer: Timer | undefined

  constructor(runtime: Runtime, ledger: Ledger, listener: UnitsListener) {
    this.#runtime = runtime
    this.#ledger = ledger
    this.#listener = listener
  }

  get count(): number {
    let count = 0
    for (const { left } of this.#grants) count += left
    return count
  }

  /** Returns when the `n`-th unit is due. */
  dueAt(n: number): number {
    let left = n
    for (const grant of this.#grants) if ((left -= grant.left) <= 0) return grant.dueAt
    return Infinity
  }

  /** Takes one unit that is due. */
  take(): Batch | undefined {
    const now = this.#runtime.now()
    const [first] = this.#grants
    if (first === undefined || first.dueAt > now || first.useBy < now) return undefined
    first.left -= 1
    if (first.left === 0) this.#grants.shift()
    return first.batch
  }

  /**
   * Adds what Redis granted in its response to a request that left at `sentAt`; returns how many units that are.
   *
   * @param lead how much later than they are due the units are used, in milliseconds.
   */
  add({ grants, promise }: BudgetResponse, sentAt: number, lead: number): number {
    // so long after the promise a process may find out that it does not hold
    const grace = longestUnreported(this.#ledger.policy)
    const now = this.#runtime.now()
    let granted = 0
    for (const [due, count] of grants) {
      const dueAt = sentAt + due
      // what was promised and is late may still come before it is worth a request
      const reportAt = promise === lease ? dueAt + lease / 3 : dueAt + promise + grace
      // a process that stood still or is cut off cannot report in time that its units are under way
      const useBy = promise === lease ? dueAt + 0.7 * lease : reportAt
      const batch = this.#ledger.open(count, dueAt, dueAt + promise, reportAt)
      this.#grants.push({ dueAt: now + due + lead, useBy: useBy + lead, batch, left: count })
      granted += count
    }
    return granted
  }

  /** Offers the units that are due, gives back what no call takes, and goes on when more are due. */
  offer(): void {
    this.#timer?.cancel()
    const nextDueAt = (): number => this.#grants[0]?.dueAt ?? Infinity
    if (nextDueAt() <= this.#runtime.now()) {
      this.#listener.due()
      this.drop(this.#runtime.now())
    }
    const wait = nextDueAt() - this.#runtime.now()
    if (wait < Infinity) this.#timer = this.#runtime.after(wait, () => this.offer())
  }

  /** Gives back the units that are due at `until`. */
  drop(until: number): void {
    const due = this.#grants.filter(({ dueAt }) => dueAt <= until)
    this.#grants = this.#grants.filter(({ dueAt }) => dueAt > until)
    if (this.#grants.length === 0) this.#timer?.cancel()
    for (const { batch, left } of due) this.#listener.unused(batch, left)
  }
}
