import type { Permit, UnansweredGrace } from '@tokenlane/core/fleet'

/** What becomes of a unit. */
export interface Owner {
  readonly grace: UnansweredGrace
  /** It comes free one window after `lag` from now. */
  settle(lag: number): void
  giveBack(): void
}

/** One unit of the fleet's budget, and of this process's own share where that is what was kept to. */
export class Unit implements Permit {
  #owner: Owner | undefined
  readonly #share: Permit | undefined
  readonly #takenAt = performance.now()

  constructor(owner: Owner, share?: Permit) {
    this.#owner = owner
    this.#share = share
  }

  answered(): void {
    this.#share?.answered()
    this.#settle(false)
  }

  ended(): void {
    this.#share?.ended()
    this.#settle(true)
  }

  cancel(): void {
    this.#share?.cancel()
    this.#end()?.giveBack()
  }

  #settle(unanswered: boolean): void {
    const owner = this.#end()
    owner?.grace.sawRoundTrip(performance.now() - this.#takenAt)
    owner?.settle(unanswered ? owner.grace.ms : 0)
  }

  #end(): Owner | undefined {
    const owner = this.#owner
    this.#owner = undefined
    return owner
  }
}
