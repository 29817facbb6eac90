import type { Permit } from '@tokenlane/core/fleet'
import type { Batch } from './ledger.ts'

/** What becomes of a permit. */
export interface PermitOwner {
  /** The call ended, with a response or without. */
  ended(batch: Batch, answered: boolean): void
  /** No request was sent. */
  unused(batch: Batch): void
}

/** One unit of the fleet's budget, and of the process's own share if it was taken while Redis was unreachable. */
export class FleetPermit implements Permit {
  #owner: PermitOwner | undefined
  readonly #batch: Batch
  readonly #share: Permit | undefined

  constructor(owner: PermitOwner, batch: Batch, share?: Permit) {
    this.#owner = owner
    this.#batch = batch
    this.#share = share
  }

  answered(): void {
    this.#share?.answered()
    this.#end()?.ended(this.#batch, true)
  }

  ended(): void {
    this.#share?.ended()
    this.#end()?.ended(this.#batch, false)
  }

  cancel(): void {
    this.#share?.cancel()
    this.#end()?.unused(this.#batch)
  }

  /** Only the first end counts. */
  #end(): PermitOwner | undefined {
    const owner = this.#owner
    this.#owner = undefined
    return owner
  }
}
