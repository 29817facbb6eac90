import type { Arrivals, Permit, SentRequest } from '@tokenlane/core/fleet'
import type { Batch } from './ledger.ts'

/** What becomes of a permit. */
export interface PermitOwner {
  /** The call ended, and its request has arrived at `arrivedAt` at the latest. */
  ended(batch: Batch, arrivedAt: number): void
  /** No request was sent. */
  unused(batch: Batch): void
}

/** One unit of the fleet's budget, and of the process's own share if it was taken while Redis was unreachable. */
export class FleetPermit implements Permit {
  readonly #owner: PermitOwner
  readonly #arrivals: Arrivals
  readonly #request: SentRequest
  readonly #batch: Batch
  readonly #share: Permit | undefined
  #state: 'sent' | 'answered' | 'over' = 'sent'

  constructor(owner: PermitOwner, arrivals: Arrivals, request: SentRequest, batch: Batch, share?: Permit) {
    this.#owner = owner
    this.#arrivals = arrivals
    this.#request = request
    this.#batch = batch
    this.#share = share
  }

  answered(isRefused = false): void {
    this.#share?.answered(isRefused)
    if (this.#state !== 'sent') return
    this.#state = 'answered'
    this.#arrivals.answered(this.#request, isRefused)
    this.#owner.ended(this.#batch, this.#request.latest)
  }

  ended(): void {
    this.#share?.ended()
    const before = this.#state
    this.#state = 'over'
    if (before === 'answered') this.#arrivals.freed()
    if (before !== 'sent') return
    this.#arrivals.unanswered(this.#request)
    this.#owner.ended(this.#batch, this.#request.latest)
  }

  cancel(): void {
    this.#share?.cancel()
    if (this.#state !== 'sent') return
    this.#state = 'over'
    this.#arrivals.cancelled(this.#request)
    this.#owner.unused(this.#batch)
  }
}
