import type { Api, Pass } from '@tokenlane/core/adapter'

/** The pass of a call on its way from ky's hook, which waited for it, to ky's `fetch`, which uses it. */
export interface Held {
  readonly request: Request
  readonly api: Api
  readonly pass: Pass
}

/**
 * The passes of calls between hook and `fetch`.
 *
 * On that way ky awaits settled promises only, so `fetch` runs before any timer can fire. A call that still holds its
 * pass when one fires was ended by another hook, and its pass is released. Each timer releases the passes of all such
 * calls, since a timer may be lost: with fake timers, or at the end of a request in an edge runtime.
 */
export class HeldPasses {
  readonly #held = new Set<Held>()

  hold(held: Held): void {
    this.#held.add(held)
    setTimeout(this.#releaseAll, 0)
  }

  /** Takes a pass over, to use and to release. Returns `false` for one that was released already. */
  take(held: Held): boolean {
    return this.#held.delete(held)
  }

  readonly #releaseAll = (): void => {
    for (const { pass } of this.#held) pass.release()
    this.#held.clear()
  }
}
