import { outliveRequest } from '../runtime/request-bound.ts'
import { lookUntilThere, SignOfLife } from '../runtime/sign-of-life.ts'
import type { AccessToken } from './access-token.ts'

/**
 * Lets calls of other incoming requests see how a renewal ends, in a runtime that ends it with the request that began
 * it: they cannot wait for the renewal itself.
 */
export class WatchedFlight {
  readonly #result: Promise<AccessToken>
  readonly #sign = new SignOfLife()
  #outcome: { readonly token: AccessToken } | { readonly error: unknown } | undefined
  #hasBegun = false

  constructor(result: Promise<AccessToken>) {
    this.#result = outliveRequest(result)
    result
      .then(
        (token) => (this.#outcome = { token }),
        (error: unknown) => (this.#outcome = { error }),
      )
      .finally(() => this.#sign.end())
    // what joins before is the call that began the renewal
    queueMicrotask(() => (this.#hasBegun = true))
  }

  /** Whether the request that began the renewal ended before the renewal did. */
  get isLost(): boolean {
    return this.#outcome === undefined && this.#sign.isLost
  }

  /** Waits for the token. */
  async join(): Promise<AccessToken> {
    if (!this.#hasBegun) return this.#result
    const outcome = await lookUntilThere(() => this.#outcome ?? (this.isLost ? { error: lost() } : undefined))
    if ('error' in outcome) throw outcome.error
    return outcome.token
  }
}

/** Returns what calls get that waited for a renewal which was lost: another one is due. */
function lost(): Error {
  return new Error('The request that renewed the token has ended')
}
