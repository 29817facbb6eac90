import type { Batch } from './ledger.ts'

interface Grant {
  /** When the units may be used, at the earliest and at the latest. */
  readonly dueAt: number
  readonly useBy: number
  readonly batch: Batch
  left: number
}

/** Units that Redis granted to this process ahead, in the order in which they are due. */
export class Grants {
  #grants: Grant[] = []

  add(dueAt: number, useBy: number, batch: Batch, count: number): void {
    this.#grants.push({ dueAt, useBy, batch, left: count })
  }

  get count(): number {
    let count = 0
    for (const { left } of this.#grants) count += left
    return count
  }

  get nextDueAt(): number {
    return this.#grants[0]?.dueAt ?? Infinity
  }

  /** Returns when the `n`-th unit is due. */
  dueAt(n: number): number {
    let left = n
    for (const grant of this.#grants) if ((left -= grant.left) <= 0) return grant.dueAt
    return Infinity
  }

  /** Takes one unit that is due. */
  take(now: number): Batch | undefined {
    const [first] = this.#grants
    if (first === undefined || first.dueAt > now || first.useBy < now) return undefined
    first.left -= 1
    if (first.left === 0) this.#grants.shift()
    return first.batch
  }

  /** Takes all units that are due at `now`. */
  drop(now: number): { readonly batch: Batch; readonly left: number }[] {
    const dropped = this.#grants.filter(({ dueAt }) => dueAt <= now)
    this.#grants = this.#grants.filter(({ dueAt }) => dueAt > now)
    return dropped
  }
}
