import type { Api, Pass } from '@tokenlane/core/adapter'

/** The pass of a call between ky's hooks, which wait for it, and ky's `fetch`, which uses it. */
export interface Held {
  readonly request: Request
  readonly api: Api
  readonly pass: Pass
}

/**
 * The passes that calls hold.
 *
 * Between hooks and `fetch` ky awaits nothing but promises that are settled, so `fetch` comes before any timer can
 * fire. When one fires, ky ended the calls that still hold a pass otherwise, and their passes are given back. Each timer
 * does so for all of them, since one may be lost: with fake timers, or at the end of a request in an edge runtime.
 */
export class HeldPasses {
  readonly #held = new Set<Held>()

  hold(held: Held): void {
    this.#held.add(held)
    setTimeout(this.#giveBack, 0)
  }

  /** Whether it is held still: then it is the caller's to use, and to release. */
  take(held: Held): boolean {
    return this.#held.delete(held)
  }

  readonly #giveBack = (): void => {
    for (const { pass } of this.#held) pass.release()
    this.#held.clear()
  }
}
