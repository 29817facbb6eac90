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
 * pass when one fires was ended by another hook, and its pass is released.
 *
 * One timer serves all calls of a millisecond, since starting each would take 1 to 2 µs. A timer may be lost, with fake
 * timers or at the end of a request in an edge runtime: then that of a later call releases the passes.
 */
export class HeldPasses {
  readonly #held = new Set<Held>()
  /** When the last timer should have fired, on the monotonic clock: it may be late, or lost. */
  #firesAt = Number.NEGATIVE_INFINITY

  hold(held: Held): void {
    this.#held.add(held)
    const now = performance.now()
    if (now < this.#firesAt) return
    this.#firesAt = now + 1
    setTimeout(this.#releaseAll, 1)
  }

  /** Takes a pass over, to use and to release. Returns `false` for one that was released already. */
  take(held: Held): boolean {
    return this.#held.delete(held)
  }

  readonly #releaseAll = (): void => {
    this.#firesAt = Number.NEGATIVE_INFINITY
    for (const { pass } of this.#held) pass.release()
    this.#held.clear()
  }
}
