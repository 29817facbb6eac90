import { type ClientCredentials, unavailable } from '../credentials/credentials.ts'
import { isTokenlaneError, reasonOf } from '../errors.ts'
import type { RenewalReason } from '../events.ts'
import { identityOf, type TokenEndpoint } from '../issuer/protocol.ts'
import type { ClientTokenSource, Grant, Wait } from '../issuer/token-source.ts'
import { Expiry, moment } from '../time/expiry.ts'
import { outliveRequest } from '../runtime/request-bound.ts'
import { type GuardedStore, storeTimeout } from './guarded-store.ts'
import { holderWait } from './holder-wait.ts'
import { fleetLease, keptGrant, type KeptEntry, type Lease, ownLease } from './lease.ts'
import { isPutBack, othersTooSlow, refusedBefore } from './shared-failure.ts'
import { sealsOf, type Stored, type StoredRefusal, type StoredToken, type TokenSeal } from './token-seal.ts'
import type { StoreEntry } from './token-store.ts'

/** More stale entries in a row than a race can explain: the process then asks for itself. */
const mostStale = 3

/**
 * The source that several processes share: it takes the token from the store if it is there; else one process asks
 * `source`, and the others wait for what it gets. A refusal is shared like a token.
 */
export class SharedSource implements ClientTokenSource {
  readonly #store: GuardedStore
  readonly #source: ClientTokenSource
  readonly #endpoint: TokenEndpoint
  readonly #leaseTime: number
  readonly #sealOf: (client: ClientCredentials) => Promise<TokenSeal>
  #kept: KeptEntry | undefined
  #lease: Lease | undefined

  /**
   * @param leaseTime how long a process may ask the issuer before another one may, in milliseconds.
   * @param keysOfStore returns the store's own keys, where it has any.
   */
  constructor(
    store: GuardedStore,
    source: ClientTokenSource,
    endpoint: TokenEndpoint,
    leaseTime: number,
    keysOfStore: (() => Promise<readonly string[]>) | undefined,
  ) {
    this.#store = store
    this.#source = source
    this.#endpoint = endpoint
    this.#leaseTime = leaseTime
    this.#sealOf = sealsOf(identityOf(endpoint), keysOfStore)
  }

  async obtain(client: ClientCredentials, reason: RenewalReason, wait: Wait): Promise<Grant> {
    const seal = await this.#sealOf(client).catch((error: Error) => {
      throw unavailable(this.#endpoint.issuer, isTokenlaneError(error) ? reasonOf(error) : error.message, {
        definite: true,
      })
    })
    const found = await this.#take(seal, wait)
    if ('token' in found) return found
    this.#lease = found
    try {
      const { grant, kept } = await found.complete(await this.#source.obtain(client, reason, wait))
      this.#kept = kept
      return grant
    } catch (error) {
      await found.fail(error)
      throw error
    }
  }

  async idle(): Promise<void> {
    await this.#lease?.written()
  }

  /**
   * Waits until there is a token that calls accept, or it is this process's turn to ask the issuer.
   *
   * @throws TokenlaneError `TOKEN_REQUEST_REFUSED` if another process was refused, `TOKEN_REQUEST_TIMEOUT` if none of
   * them gets a token in time.
   */
  async #take(seal: TokenSeal, wait: Wait): Promise<Grant | Lease> {
    const { name } = seal
    const keptHere = (): KeptEntry | undefined => (this.#kept?.name === name ? this.#kept : undefined)
    const next = holderWait(this.#store, name, this.#leaseTime, wait)
    let stale = keptHere()?.entry
    let written: StoreEntry | undefined
    for (let seen = 0; seen < mostStale;) {
      const claim = written ?? (await this.#store.claim(name, stale, this.#leaseTime))
      written = undefined
      if (claim === undefined) {
        await this.#spread(wait)
        break
      }
      if (claim === 'locked') {
        const found = await next(stale)
        if (found === 'late') throw othersTooSlow(this.#endpoint)
        written = found === 'look' ? undefined : found
        continue
      }
      if ('fence' in claim) return fleetLease(this.#store, seal, claim.fence, () => keptHere()?.token)
      const { entry, expiresIn } = claim
      const stored = await this.#open(seal, entry)
      if (stored !== undefined && 'refusedAt' in stored) {
        if (!isPutBack(stored)) return this.#afterRefusal(stored, name, claim, wait)
      } else if (stored !== undefined) {
        const grant = grantOf(stored, expiresIn)
        if (wait.accepts(grant)) {
          this.#kept = { name, entry, token: stored }
          return keptGrant(this.#store, grant, this.#kept)
        }
      }
      stale = entry
      seen += 1
    }
    return ownLease
  }

  /** Without the store every process asks for itself, but not all of them at the same moment. */
  async #spread(wait: Wait): Promise<void> {
    await wait.pause(Math.random() * Math.min(storeTimeout, wait.timeLeft / 4))
  }

  async #open(seal: TokenSeal, entry: string): Promise<Stored | undefined> {
    const stored = await seal.open(entry)
    if (stored === undefined) this.#store.failed('unreadable')
    else this.#store.works()
    return stored
  }

  /** Returns the token before the refusal, if this process has no better one and that one has not expired. */
  #afterRefusal(refusal: StoredRefusal, name: string, { entry, expiresIn }: StoreEntry, wait: Wait): Grant {
    const grant = refusal.last && grantOf(refusal.last, undefined)
    if (grant === undefined || !wait.accepts(grant)) throw refusedBefore(this.#endpoint, refusal, expiresIn)
    return { ...grant, drop: () => void outliveRequest(this.#store.drop(name, entry)) }
  }
}

function grantOf({ token, lifetime, expiresAt }: StoredToken, expiresIn: number = lifetime): Grant {
  // our clock and that of the process that wrote it may differ: no token has more left than it ever had
  const left = Math.min(expiresAt - Date.now(), expiresIn, lifetime)
  return { token, lifetime, expiry: new Expiry(left, moment()) }
}
