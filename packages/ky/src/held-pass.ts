import type { Api, Pass } from '@tokenlane/core'

interface Held {
  readonly request: Request
  readonly api: Api
  readonly pass: Pass
}

/**
 * The pass of a call between ky's hooks, which wait for it, and ky's `fetch`, which uses it.
 *
 * In between ky awaits nothing but promises that are settled, so `fetch` comes before any timer can fire. If one
 * fires, ky ended the call otherwise, and the pass is given back.
 */
export class HeldPass {
  #held: Held | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  hold(held: Held): void {
    this.#held = held
    this.#timer = setTimeout(() => this.release(), 0)
  }

  /** The API of this very request, if it waited: its URL is the same. */
  apiOf(request: Request): Api | undefined {
    return this.#held?.request === request ? this.#held.api : undefined
  }

  /** The pass, if it is for this API. Another one is given back. */
  take(api: Api): Pass | undefined {
    const held = this.#held
    if (held === undefined || held.api !== api) {
      this.release()
      return undefined
    }
    this.#forget()
    return held.pass
  }

  release(): void {
    this.#held?.pass.release()
    this.#forget()
  }

  #forget(): void {
    clearTimeout(this.#timer)
    this.#held = undefined
  }
}
