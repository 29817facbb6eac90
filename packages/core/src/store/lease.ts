import { refusalMemory } from '../credentials/refused-client.ts'
import type { Grant } from '../issuer/token-source.ts'
import { outliveRequest } from '../runtime/request-bound.ts'
import type { GuardedStore } from './guarded-store.ts'
import { isRefusal, sharedPause } from './shared-failure.ts'
import type { StoredToken, TokenSeal } from './token-seal.ts'

/** Which entry of the store holds the token that this process uses, so that all processes can drop a refused token. */
export interface KeptEntry {
  readonly name: string
  readonly entry: string
  /** `undefined` after an API refused the token. */
  token: StoredToken | undefined
}

/** The right to ask the issuer: for all processes or, if the store fails, for this one alone. */
export interface Lease {
  /** Keeps the token for the other processes, without waiting until the store has it. */
  complete(grant: Grant): Promise<{ readonly grant: Grant; readonly kept: KeptEntry | undefined }>
  /** Lets another process try, or writes down for all of them that the client is refused. */
  fail(error: unknown): Promise<void>
  /** Ends when the store has what was last written. */
  written(): Promise<void>
}

/** Returns a grant whose `drop` drops its entry, too. */
export function keptGrant(store: GuardedStore, grant: Grant, kept: KeptEntry): Grant {
  return {
    ...grant,
    drop() {
      kept.token = undefined
      void outliveRequest(store.drop(kept.name, kept.entry))
    },
  }
}

/**
 * Returns the right to ask the issuer for all processes, for as long as `fence` is the latest.
 *
 * @param last returns the token that the process has.
 */
export function fleetLease(
  store: GuardedStore,
  seal: TokenSeal,
  fence: string,
  last: () => StoredToken | undefined,
): Lease {
  const { name } = seal
  let writing: Promise<void> | undefined
  const write = (entry: string, lifetime: number): void => {
    writing = outliveRequest(store.write(name, fence, entry, lifetime))
  }
  return {
    async complete(grant) {
      const { token, lifetime, expiry } = grant
      const stored = { token, lifetime, expiresAt: expiry.date.getTime() }
      // before any call uses the token: its refusal must be able to name the entry
      const entry = await seal.seal(stored)
      write(entry, Math.max(1, Math.floor(stored.expiresAt - Date.now())))
      const kept = { name, entry, token: stored }
      return { grant: keptGrant(store, grant, kept), kept }
    },
    async fail(error) {
      if (!isRefusal(error)) {
        writing = outliveRequest(store.release(name, fence, sharedPause(error)))
        return
      }
      const { status, oauthError } = error
      write(await seal.seal({ status, oauthError, refusedAt: Date.now(), last: last() }), refusalMemory)
    },
    async written() {
      await writing
    },
  }
}

/** The right to ask the issuer for this process alone. */
export const ownLease: Lease = {
  complete: async (grant) => ({ grant, kept: undefined }),
  async fail() {},
  async written() {},
}
