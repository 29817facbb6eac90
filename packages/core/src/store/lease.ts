import { refusalMemory } from '../credentials/refused-client.ts'
import type { Grant } from '../issuer/token-source.ts'
import { outliveRequest } from '../runtime/request-bound.ts'
import type { GuardedStore } from './guarded-store.ts'
import type { KeptEntry } from './kept-entry.ts'
import { isRefusal, sharedPause } from './shared-failure.ts'
import type { TokenSeal } from './token-seal.ts'

/** The right to ask the issuer: for all processes or, if the store fails, for this one alone. */
export interface Lease {
  /** Keeps the token for the other processes, without waiting until the store has it. */
  complete(grant: Grant): Promise<Grant>
  /** Lets another process try, or writes down for all of them that the client is refused. */
  fail(error: unknown): Promise<void>
  /** Ends when the store has what was last written. */
  written(): Promise<void>
}

/** The right to ask the issuer for all processes, for as long as `fence` is the latest. */
export class FleetLease implements Lease {
  readonly #store: GuardedStore
  readonly #seal: TokenSeal
  readonly #fence: string
  readonly #kept: KeptEntry
  #writing: Promise<void> | undefined

  constructor(store: GuardedStore, seal: TokenSeal, fence: string, kept: KeptEntry) {
    this.#store = store
    this.#seal = seal
    this.#fence = fence
    this.#kept = kept
  }

  async complete(grant: Grant): Promise<Grant> {
    const { token, lifetime, expiry } = grant
    const stored = { token, lifetime, expiresAt: expiry.date.getTime() }
    const { name } = this.#seal
    // before any call uses the token: its refusal must be able to name the entry
    const entry = await this.#seal.seal(stored)
    const left = Math.max(1, Math.floor(stored.expiresAt - Date.now()))
    this.#writing = outliveRequest(this.#store.write(name, this.#fence, entry, left))
    return this.#kept.keep(grant, name, entry, stored)
  }

  async fail(error: unknown): Promise<void> {
    const { name } = this.#seal
    if (!isRefusal(error)) {
      this.#writing = outliveRequest(this.#store.release(name, this.#fence, sharedPause(error)))
      return
    }
    const { status, oauthError } = error
    const last = this.#kept.tokenUnder(name)
    const entry = await this.#seal.seal({ status, oauthError, refusedAt: Date.now(), last })
    this.#writing = outliveRequest(this.#store.write(name, this.#fence, entry, refusalMemory))
  }

  async written(): Promise<void> {
    await this.#writing
  }
}

/** Returns the right to ask the issuer for this process alone. */
export function ownLease(kept: KeptEntry): Lease {
  return {
    async complete(grant) {
      kept.forget()
      return grant
    },
    async fail() {},
    async written() {},
  }
}
