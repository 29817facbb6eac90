import { backoff } from '../time/backoff.ts'
import type { Credentials } from '../credentials/credentials.ts'
import { isTokenlaneError } from '../errors.ts'
import type { GuardedStore } from './guarded-store.ts'
import { TokenSeal, type StoredToken } from './token-seal.ts'

/** How often a process looks whether another one is done, from here to there, in milliseconds. */
const firstLook = 40
const longestLook = 500
/** So many stale entries in a row are no accident. */
const mostStale = 3
/** After a failure the issuer is left alone by all, from here to there. */
const shortestPause = 250
const longestPause = 300_000

/** What comes of asking the issuer. */
export interface Errand {
  /** Keeps the token for the other processes; whether that works is nobody's to wait for. */
  succeeded(stored: StoredToken): Promise<void>
  /** Lets another process try. */
  failed(error: unknown): void
}

/**
 * One issuer's token as a fleet of processes shares it: taken from the store if it is there; else one process asks
 * the issuer, and the others wait for what it gets.
 */
export class SharedToken {
  readonly #store: GuardedStore
  readonly #endpoint: { readonly url: URL; readonly scope: string | undefined }
  readonly #lease: number
  /** Where the token is kept that this process uses. */
  #kept: { readonly name: string; readonly entry: string } | undefined
  #writing: Promise<void> | undefined

  /** @param lease how long a process may ask the issuer before another one may, in milliseconds. */
  constructor(
    store: GuardedStore,
    endpoint: { readonly url: URL; readonly scope: string | undefined },
    lease: number,
  ) {
    this.#store = store
    this.#endpoint = endpoint
    this.#lease = lease
  }

  /**
   * Waits until there is a token that `accept` makes something of, or it is this process's turn to ask the issuer:
   * for all, or for itself if the store fails. What `pause` throws ends the waiting.
   */
  async take<T>(
    client: Credentials,
    accept: (stored: StoredToken, expiresIn: number | undefined) => T | undefined,
    pause: (ms: number) => Promise<void>,
  ): Promise<{ token: T } | { errand: Errand }> {
    const seal = await TokenSeal.of(this.#endpoint, client)
    let stale = this.#kept?.name === seal.name ? this.#kept.entry : undefined
    for (let looks = 1, seen = 0; seen < mostStale;) {
      const claim = await this.#store.claim(seal.name, stale, this.#lease)
      if (claim === undefined) break
      if (claim === 'locked') {
        await pause(backoff(looks, firstLook, longestLook))
        looks += 1
        continue
      }
      if ('fence' in claim) return { errand: this.#errand(seal, claim.fence) }
      const stored = await seal.open(claim.entry)
      if (stored === undefined) this.#store.failed('unreadable')
      else this.#store.works()
      const token = stored && accept(stored, claim.expiresIn)
      if (token !== undefined) {
        this.#kept = { name: seal.name, entry: claim.entry }
        return { token }
      }
      stale = claim.entry
      seen += 1
    }
    return { errand: this.#ownErrand() }
  }

  /** The token in use was refused: no other process shall take it. */
  drop(): void {
    if (this.#kept !== undefined) void this.#store.drop(this.#kept.name, this.#kept.entry)
  }

  /** Ends when nothing is being written any more. */
  async idle(): Promise<void> {
    await this.#writing
  }

  #ownErrand(): Errand {
    return {
      succeeded: async () => {
        this.#kept = undefined
      },
      failed() {},
    }
  }

  #errand(seal: TokenSeal, fence: string): Errand {
    return {
      succeeded: async (stored) => {
        // before anybody uses the token: whoever is refused with it must be able to say which one it was
        const entry = await seal.seal(stored)
        this.#kept = { name: seal.name, entry }
        const left = Math.max(1, Math.floor(stored.expiresAt - Date.now()))
        this.#writing = this.#store.write(seal.name, fence, entry, left)
      },
      failed: (error) => {
        this.#writing = this.#store.release(seal.name, fence, pauseAfter(error))
      },
    }
  }
}

/** A fleet must not ask an issuer in trouble more often than one process would; another's no is not ours. */
function pauseAfter(error: unknown): number {
  const code = isTokenlaneError(error) ? error.code : undefined
  const inTrouble =
    code === 'TOKEN_REQUEST_FAILED' || code === 'TOKEN_REQUEST_TIMEOUT' || code === 'TOKEN_RESPONSE_INVALID'
  if (!inTrouble) return 0
  const { retryAfter = shortestPause } = error as { retryAfter?: number }
  return Math.min(longestPause, Math.max(shortestPause, retryAfter))
}
