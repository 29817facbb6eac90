import type { Permit } from '@tokenlane/core/fleet'

/** What becomes of a unit. */
interface Owner {
  /** It comes free one window after `lag` from now. */
  settle(lag: number): void
  giveBack(): void
}

/** For how long a request without an answer may still be on its way to the server, in milliseconds. */
const stray = 1_000

/** One unit of the fleet's budget, and of this process's own share where that is what was kept to. */
export class Unit implements Permit {
  #owner: Owner | undefined
  readonly #share: Permit | undefined

  constructor(owner: Owner, share?: Permit) {
    this.#owner = owner
    this.#share = share
  }

  answered(): void {
    this.#share?.answered()
    this.#end()?.settle(0)
  }

  ended(): void {
    this.#share?.ended()
    this.#end()?.settle(stray)
  }

  cancel(): void {
    this.#share?.cancel()
    this.#end()?.giveBack()
  }

  #end(): Owner | undefined {
    const owner = this.#owner
    this.#owner = undefined
    return owner
  }
}
