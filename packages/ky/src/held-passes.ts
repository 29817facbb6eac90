import type { Api, Pass } from '@tokenlane/core'

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
 * fire. When one fires, ky ended the calls that still hold a pass otherwise, and their passes are given back: one timer
 * does for all of them.
 */
export class HeldPasses {
  readonly #held = new Set<Held>()
  #timer: ReturnType<typeof setTimeout> | undefined

  hold(held: Held): void {
    this.#held.add(held)
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#giveBack(), 0)
  }

  /** Whether it is held still: then it is the caller's to use, and to release. */
  take(held: Held): boolean {
    return this.#held.delete(held)
  }

  #giveBack(): void {
    this.#timer = undefined
    for (const { pass } of this.#held) pass.release()
    this.#held.clear()
  }
}
