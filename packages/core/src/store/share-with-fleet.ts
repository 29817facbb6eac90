import { refusalMemory } from '../credentials/credential-rotation.ts'
import { type ClientCredentials, unavailable } from '../credentials/credentials.ts'
import { isTokenlaneError, type TokenlaneError } from '../errors.ts'
import type { RenewalReason } from '../events.ts'
import { failure } from '../issuer/issuer-request.ts'
import { identityOf, type TokenEndpoint } from '../issuer/token-endpoint.ts'
import type { ClientTokenSource, Grant, Wait } from '../issuer/token-source.ts'
import { finiteDuration } from '../time/finite-duration.ts'
import { outliveRequest } from '../time/request-bound.ts'
import { Expiry, moment } from '../time/expiry.ts'
import { type GuardedStore, storeTimeout } from './guarded-store.ts'
import { HolderWait } from './holder-wait.ts'
import type { StoreEntry } from './token-store.ts'
import { SealCache, type Stored, type StoredRefusal, type StoredToken, type TokenSeal } from './token-seal.ts'

/** More stale entries in a row than a race can explain: the process then asks for itself. */
const mostStale = 3
/** All processes leave the issuer alone after a failure, from here to there, in milliseconds. */
const shortestPause = 250
const longestPause = 300_000

/**
 * Returns the source that several processes share: it takes the token from the store if it is there; else one process
 * asks `source`, and the others wait for what it gets. A refusal is shared like a token.
 *
 * @param lease how long a process may ask the issuer before another one may, in milliseconds.
 */
export function shareWithFleet(
  store: GuardedStore,
  source: ClientTokenSource,
  endpoint: TokenEndpoint,
  lease: number,
): ClientTokenSource {
  return new SharedSource(store, source, endpoint, lease)
}

/** The right to ask the issuer, for all processes or, if the store fails, for this one alone. */
interface Lease {
  /** Keeps the token for the other processes, without waiting until the store has it. */
  complete(grant: Grant): Promise<Grant>
  /** Lets another process try, or writes down for all of them that the client is refused. */
  fail(error: unknown): Promise<void>
}

/** The entry of the token that this process uses. */
interface Kept {
  readonly name: string
  readonly entry: string
  /** `undefined` after an API refused the token. */
  stored: StoredToken | undefined
}

class SharedSource implements ClientTokenSource {
  readonly #store: GuardedStore
  readonly #source: ClientTokenSource
  readonly #endpoint: TokenEndpoint
  readonly #leaseTime: number
  readonly #seals: SealCache
  #kept: Kept | undefined
  #writing: Promise<void> | undefined

  constructor(store: GuardedStore, source: ClientTokenSource, endpoint: TokenEndpoint, leaseTime: number) {
    this.#store = store
    this.#source = source
    this.#endpoint = endpoint
    this.#leaseTime = leaseTime
    this.#seals = new SealCache(identityOf(endpoint))
  }

  async obtain(client: ClientCredentials, reason: RenewalReason, wait: Wait): Promise<Grant> {
    const found = await this.#take(await this.#sealOf(client), wait)
    if ('token' in found) return found
    try {
      return await found.complete(await this.#source.obtain(client, reason, wait))
    } catch (error) {
      await found.fail(error)
      throw error
    }
  }

  async #sealOf(client: ClientCredentials): Promise<TokenSeal> {
    try {
      return await this.#seals.of(client)
    } catch (error) {
      throw unavailable(this.#endpoint.issuer, (error as Error).message, { definite: true })
    }
  }

  async idle(): Promise<void> {
    await this.#writing
  }

  /**
   * Waits until there is a token that calls accept, or it is this process's turn to ask the issuer.
   *
   * @throws TokenlaneError `TOKEN_REQUEST_REFUSED` if another process was refused, `TOKEN_REQUEST_TIMEOUT` if none of
   * them gets a token in time.
   */
  async #take(seal: TokenSeal, wait: Wait): Promise<Grant | Lease> {
    const holder = new HolderWait(this.#store, seal.name, this.#leaseTime, wait)
    let stale = this.#kept?.name === seal.name ? this.#kept.entry : undefined
    let written: StoreEntry | undefined
    for (let seen = 0; seen < mostStale;) {
      const claim = written ?? (await this.#store.claim(seal.name, stale, this.#leaseTime))
      written = undefined
      if (claim === undefined) {
        await this.#spread(wait)
        break
      }
      if (claim === 'locked') {
        const next = await holder.next(stale)
        if (next === 'late') throw othersTooSlow(this.#endpoint)
        written = next === 'look' ? undefined : next
        continue
      }
      if ('fence' in claim) return this.#lease(seal, claim.fence)
      const stored = await this.#open(seal, claim)
      if (stored !== undefined && 'oauthError' in stored)
        return this.#afterRefusal(stored, seal.name, claim, wait)
      const grant = stored && grantOf(stored, claim.expiresIn)
      if (grant !== undefined && wait.accepts(grant)) return this.#keep(grant, seal.name, claim.entry, stored)
      stale = claim.entry
      seen += 1
    }
    return this.#ownLease()
  }

  /** Without the store every process asks for itself, but not all of them at the same moment. */
  async #spread(wait: Wait): Promise<void> {
    await wait.pause(Math.random() * Math.min(storeTimeout, wait.timeLeft / 4))
  }

  async #open(seal: TokenSeal, { entry }: StoreEntry): Promise<Stored | undefined> {
    const stored = await seal.open(entry)
    if (stored === undefined) this.#store.failed('unreadable')
    else this.#store.works()
    return stored
  }

  /** Returns the token before the refusal if this process has none and that one lives. */
  #afterRefusal(refusal: StoredRefusal, name: string, { entry, expiresIn }: StoreEntry, wait: Wait): Grant {
    const grant = refusal.last && grantOf(refusal.last, undefined)
    if (grant === undefined || !wait.accepts(grant)) throw refusedBefore(this.#endpoint, refusal, expiresIn)
    return { ...grant, drop: () => void outliveRequest(this.#store.drop(name, entry)) }
  }

  /** Remembers which entry the token is, so that a refused token can be dropped for all processes. */
  #keep(grant: Grant, name: string, entry: string, stored: StoredToken | undefined): Grant {
    const kept: Kept = { name, entry, stored }
    this.#kept = kept
    return {
      ...grant,
      drop: () => {
        kept.stored = undefined
        void outliveRequest(this.#store.drop(name, entry))
      },
    }
  }

  #lease(seal: TokenSeal, fence: string): Lease {
    return {
      complete: async (grant) => {
        const { token, lifetime, expiry } = grant
        const stored = { token, lifetime, expiresAt: expiry.date.getTime() }
        // before any call uses the token: its refusal must be able to name the entry
        const entry = await seal.seal(stored)
        const left = Math.max(1, Math.floor(stored.expiresAt - Date.now()))
        this.#writing = outliveRequest(this.#store.write(seal.name, fence, entry, left))
        return this.#keep(grant, seal.name, entry, stored)
      },
      fail: async (error) => {
        this.#writing = outliveRequest(
          isRefusal(error)
            ? this.#store.write(seal.name, fence, await this.#refusal(seal, error), refusalMemory)
            : this.#store.release(seal.name, fence, sharedPause(error)),
        )
      },
    }
  }

  async #refusal(seal: TokenSeal, { status, oauthError = 'refused' }: TokenlaneError): Promise<string> {
    const last = this.#kept?.name === seal.name ? this.#kept.stored : undefined
    return seal.seal({ status, oauthError, last })
  }

  #ownLease(): Lease {
    return {
      complete: async (grant) => {
        this.#kept = undefined
        return grant
      },
      async fail() {},
    }
  }
}

function grantOf({ token, lifetime, expiresAt }: StoredToken, expiresIn: number = lifetime): Grant {
  // our clock and that of the process that wrote it may differ: no token has more left than it ever had
  const left = Math.min(expiresAt - Date.now(), expiresIn, lifetime)
  return { token, lifetime, expiry: Expiry.of(left, moment()) }
}

/** Together, the processes ask an issuer in trouble not more often than one process would. */
function sharedPause(error: unknown): number {
  const code = isTokenlaneError(error) ? error.code : undefined
  const inTrouble =
    code === 'TOKEN_REQUEST_FAILED' || code === 'TOKEN_REQUEST_TIMEOUT' || code === 'TOKEN_RESPONSE_INVALID'
  if (!inTrouble) return 0
  const { retryAfter = shortestPause } = error as { retryAfter?: number }
  return Math.min(longestPause, Math.max(shortestPause, retryAfter))
}

function isRefusal(error: unknown): error is TokenlaneError {
  return isTokenlaneError(error) && error.code === 'TOKEN_REQUEST_REFUSED'
}

function refusedBefore(
  { issuer, server }: TokenEndpoint,
  { status, oauthError }: StoredRefusal,
  expiresIn: number = refusalMemory,
): TokenlaneError {
  const reason = `refused another process with the same credentials: ${oauthError} (status ${status})`
  const details = { status, oauthError, definite: true, retryAfter: finiteDuration(expiresIn, refusalMemory) }
  return failure({ issuer, url: server.place }, 'TOKEN_REQUEST_REFUSED', reason, details)
}

function othersTooSlow({ issuer, server }: TokenEndpoint): TokenlaneError {
  const reason = 'has not answered the process that asks for all'
  return failure({ issuer, url: server.place }, 'TOKEN_REQUEST_TIMEOUT', reason)
}
