import type { CredentialRotation } from '../credentials/credential-rotation.ts'
import type { Credentials } from '../credentials/credentials.ts'
import { isTokenlaneError, TokenlaneError } from '../errors.ts'
import type { RenewalReason } from '../events.ts'
import type { Grant, TokenSource, Wait } from '../issuer/token-source.ts'
import { backoff } from '../time/backoff.ts'
import { Expiry, moment } from '../time/expiry.ts'
import { StepTimeout } from '../time/timers.ts'
import type { GuardedStore } from './guarded-store.ts'
import type { StoreEntry } from './token-store.ts'
import { TokenSeal } from './token-seal.ts'

/** How often a process looks whether another one is done, from here to there, in milliseconds. */
const firstLook = 40
const longestLook = 500
/** More stale entries in a row are no accident. */
const mostStale = 3
/** All processes leave the issuer alone after a failure, from here to there, in milliseconds. */
const shortestPause = 250
const longestPause = 300_000

/** Whose token is shared, and how long one process may take; times in milliseconds. */
export interface Sharing {
  readonly endpoint: { readonly issuer: string; readonly url: URL; readonly scope: string | undefined }
  readonly credentials: CredentialRotation
  readonly requestTimeout: number
  /** How long a process may ask the issuer before another one may. */
  readonly lease: number
}

/**
 * Returns the source that several processes share: it takes the token from the store if it is there; else one process
 * asks `source`, and the others wait for what it gets.
 */
export function shareWithFleet(store: GuardedStore, source: TokenSource, sharing: Sharing): TokenSource {
  return new SharedSource(store, source, sharing)
}

/** The right to ask the issuer, for all processes or, if the store fails, for this one alone. */
interface Lease {
  /** Keeps the token for the other processes, without waiting until the store has it. */
  complete(grant: Grant): Promise<Grant>
  /** Lets another process try. */
  fail(error: unknown): void
}

class SharedSource implements TokenSource {
  readonly #store: GuardedStore
  readonly #source: TokenSource
  readonly #sharing: Sharing
  /** The entry of the token that this process uses. */
  #kept: { readonly name: string; readonly entry: string } | undefined
  #writing: Promise<void> | undefined

  constructor(store: GuardedStore, source: TokenSource, sharing: Sharing) {
    this.#store = store
    this.#source = source
    this.#sharing = sharing
  }

  async obtain(reason: RenewalReason, wait: Wait): Promise<Grant> {
    const found = await this.#take(await this.#identify(reason, wait), wait)
    if ('token' in found) return found
    try {
      return await found.complete(await this.#source.obtain(reason, wait))
    } catch (error) {
      found.fail(error)
      throw error
    }
  }

  async idle(): Promise<void> {
    await this.#writing
  }

  /** The seal of whoever asks: processes with the same first credentials share. */
  async #identify(reason: RenewalReason, wait: Wait): Promise<TokenSeal> {
    const { endpoint, credentials, requestTimeout } = this.#sharing
    const timeout = new StepTimeout(() => Math.min(requestTimeout, Math.max(1, wait.timeLeft)))
    try {
      const client = await credentials.first(reason === 'startup' ? 'startup' : 'renewal', timeout.signal())
      return await TokenSeal.of(endpoint, client as Credentials)
    } finally {
      timeout.clear()
    }
  }

  /** Waits until there is a token that calls accept, or it is this process's turn to ask the issuer. */
  async #take(seal: TokenSeal, wait: Wait): Promise<Grant | Lease> {
    const { lease } = this.#sharing
    // time for a process that died, and for its successor
    const giveUpAt = performance.now() + 2 * lease
    let stale = this.#kept?.name === seal.name ? this.#kept.entry : undefined
    for (let looks = 1, seen = 0; seen < mostStale;) {
      const claim = await this.#store.claim(seal.name, stale, lease)
      if (claim === undefined) break
      if (claim === 'locked') {
        await this.#waitForHolder(wait, giveUpAt, backoff(looks, firstLook, longestLook))
        looks += 1
        continue
      }
      if ('fence' in claim) return this.#lease(seal, claim.fence)
      const grant = await this.#open(seal, claim)
      if (grant !== undefined && wait.accepts(grant)) return this.#keep(grant, seal.name, claim.entry)
      stale = claim.entry
      seen += 1
    }
    return this.#ownLease()
  }

  async #waitForHolder(wait: Wait, giveUpAt: number, ms: number): Promise<void> {
    // calls that have another token to send need not wait as long as those without
    const left = wait.needed ? wait.timeLeft : giveUpAt - performance.now()
    if (ms >= left) throw othersTooSlow(this.#sharing.endpoint)
    await wait.pause(ms)
  }

  async #open(seal: TokenSeal, { entry, expiresIn }: StoreEntry): Promise<Grant | undefined> {
    const stored = await seal.open(entry)
    if (stored === undefined) {
      this.#store.failed('unreadable')
      return undefined
    }
    this.#store.works()
    const { token, lifetime, expiresAt } = stored
    // our clock and that of the process that wrote it may differ: no token has more left than it ever had
    const left = Math.min(expiresAt - Date.now(), expiresIn ?? lifetime, lifetime)
    return { token, lifetime, expiry: Expiry.of(left, moment()) }
  }

  /** Remembers which entry the token is, so that a refused token can be dropped for all processes. */
  #keep(grant: Grant, name: string, entry: string): Grant {
    this.#kept = { name, entry }
    return { ...grant, drop: () => void this.#store.drop(name, entry) }
  }

  #lease(seal: TokenSeal, fence: string): Lease {
    return {
      complete: async (grant) => {
        const { token, lifetime, expiry } = grant
        // before any call uses the token: its refusal must be able to name the entry
        const entry = await seal.seal({ token, lifetime, expiresAt: expiry.date.getTime() })
        const left = Math.max(1, Math.floor(expiry.date.getTime() - Date.now()))
        this.#writing = this.#store.write(seal.name, fence, entry, left)
        return this.#keep(grant, seal.name, entry)
      },
      fail: (error) => {
        this.#writing = this.#store.release(seal.name, fence, sharedPause(error))
      },
    }
  }

  #ownLease(): Lease {
    return {
      complete: async (grant) => {
        this.#kept = undefined
        return grant
      },
      fail() {},
    }
  }
}

/** The processes together ask an issuer in trouble no oftener than one would. A refusal may concern one alone. */
function sharedPause(error: unknown): number {
  const code = isTokenlaneError(error) ? error.code : undefined
  const inTrouble =
    code === 'TOKEN_REQUEST_FAILED' || code === 'TOKEN_REQUEST_TIMEOUT' || code === 'TOKEN_RESPONSE_INVALID'
  if (!inTrouble) return 0
  const { retryAfter = shortestPause } = error as { retryAfter?: number }
  return Math.min(longestPause, Math.max(shortestPause, retryAfter))
}

function othersTooSlow({ issuer, url }: Sharing['endpoint']): TokenlaneError {
  return new TokenlaneError(
    'TOKEN_REQUEST_TIMEOUT',
    `Cannot obtain token: issuer "${issuer}" (${url.origin}) has not answered the process that asks for all`,
    { issuer },
  )
}
