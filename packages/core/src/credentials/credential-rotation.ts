import { askProvider } from './ask-provider.ts'
import { type ClientForm, keyOf } from './client.ts'
import {
  type ClientCredentials,
  type CredentialsContext,
  type CredentialsSource,
  unavailable,
} from './credentials.ts'
import { isTokenlaneError, type TokenlaneError } from '../errors.ts'
import type { Emit } from '../events.ts'
import { mayBeAboutClient, refusalMemory, refusalSpan } from './refused-client.ts'
import { SecretExpiry, type SecretLifetime } from './secret-expiry.ts'

/** At most 8 refused lists in 30 s, in case a provider returns a new wrong secret each time. */
const mostRefusedLists = 8

/** Credentials of one issuer, and how they are sent. */
interface RotationOptions {
  /** Name of the issuer. */
  readonly issuer: string
  readonly credentials: CredentialsSource<ClientCredentials>
  readonly form: ClientForm
  readonly lifetime: SecretLifetime
  readonly emit: Emit
}

/** A client of the credentials, and what the issuer said to it last; `undefined` if it was not asked with it. */
export interface KnownClient {
  readonly client: ClientCredentials
  readonly outcome: 'accepted' | 'refused' | undefined
}

/**
 * Decides with which credentials an issuer is asked: first those that worked last, and none that were refused in the
 * last 30 s. When all are refused, the provider is asked again at once.
 */
export class CredentialRotation {
  readonly #options: RotationOptions
  readonly #expiry: SecretExpiry
  /** By client, on the monotonic clock. */
  readonly #refusedUntil = new Map<string, number>()
  /** By list of clients that were refused, on the monotonic clock. */
  #listsRefusedUntil: readonly number[] = []
  #working: string | undefined
  #lastRefusal: TokenlaneError | undefined

  constructor(options: RotationOptions) {
    this.#options = options
    const { issuer, credentials, lifetime, emit } = options
    this.#expiry = new SecretExpiry(issuer, lifetime, emit)
    if (typeof credentials !== 'function') this.#expiry.watch([credentials].flat()[0])
  }

  /** Returns the days until the secret in use must be rotated; gives due notices on the way. */
  daysLeft(): number | undefined {
    return this.#expiry.daysLeft()
  }

  /** Returns the clients that are known before a provider is asked: it may have read them when it was checked. */
  initial(): readonly ClientCredentials[] {
    const { credentials, form } = this.#options
    if (typeof credentials !== 'function') return [credentials].flat()
    const check = credentials.check as ((...form: readonly unknown[]) => unknown) | undefined
    const read = check?.(form.method, form)
    return Array.isArray(read) ? (read as ClientCredentials[]) : []
  }

  /** Whether the credentials can be other ones than a moment ago, so that a refusal may be out of date. */
  get mayChange(): boolean {
    return typeof this.#options.credentials === 'function'
  }

  /**
   * Calls `request` with one client after the other until one is not refused.
   *
   * @throws TokenlaneError the last refusal if all were refused, now or in the last 30 s, `CREDENTIALS_UNAVAILABLE`,
   * or at once what `request` throws for another reason.
   */
  async use<T>(
    request: (client: ClientCredentials) => Promise<T>,
    reason: 'startup' | 'renewal',
    signal: () => AbortSignal,
  ): Promise<T> {
    let refusal: TokenlaneError | undefined
    let unproven: TokenlaneError | undefined
    for (const ask of this.mayChange ? [reason, 'rejected' as const] : [reason]) {
      // nothing was refused just now, so there is nothing to ask again for
      if (ask === 'rejected' && refusal === undefined) break
      const list = await this.#ask(ask, signal())
      if (this.#tooManyLists()) break
      const refusedBefore = this.#refusedUntil.size
      for (const client of list) {
        if (this.#refusedUntil.has(keyOf(client))) continue
        try {
          const answer = await request(client)
          this.#worked(client)
          return answer
        } catch (error) {
          if (!isTokenlaneError(error)) throw error
          // the issuer was not asked: another client may have what it proves itself with
          if (error.code === 'CREDENTIALS_UNAVAILABLE') {
            unproven ??= error
            continue
          }
          if (error.code !== 'TOKEN_REQUEST_REFUSED') throw error
          this.#refusedUntil.set(keyOf(client), performance.now() + refusalSpan(error))
          this.#lastRefusal = error
          refusal = error
          // no other secret makes a wrong scope right
          if (!mayBeAboutClient(error)) throw error
        }
      }
      if (this.#refusedUntil.size > refusedBefore)
        this.#listsRefusedUntil = [...this.#listsRefusedUntil, performance.now() + refusalMemory]
    }
    throw (
      // it may be there at the next try, which a refusal would put off
      unproven ??
      refusal ??
      this.#lastRefusal ??
      unavailable(this.#options.issuer, 'the provider returned none that can be tried now')
    )
  }

  /**
   * Returns every client of the credentials in their order, each once.
   *
   * @throws TokenlaneError `CREDENTIALS_UNAVAILABLE`
   */
  async known(signal: AbortSignal): Promise<readonly KnownClient[]> {
    const known = new Map<string, KnownClient>()
    for (const client of await this.#given('startup', signal)) {
      const key = keyOf(client)
      const refused = this.#refusedUntil.has(key) ? 'refused' : undefined
      known.set(key, { client, outcome: key === this.#working ? 'accepted' : refused })
    }
    return [...known.values()]
  }

  /** Returns the clients of the credentials in their order. */
  #given(reason: CredentialsContext['reason'], signal: AbortSignal): Promise<readonly ClientCredentials[]> {
    const { credentials } = this.#options
    return typeof credentials === 'function'
      ? askProvider(credentials, this.#options, reason, signal)
      : Promise.resolve([credentials].flat())
  }

  /** Returns the clients in the order in which they are tried: first the one that worked last. */
  async #ask(
    reason: CredentialsContext['reason'],
    signal: AbortSignal,
  ): Promise<readonly ClientCredentials[]> {
    const given = await this.#given(reason, signal)
    const isLast = (client: ClientCredentials): boolean => keyOf(client) === this.#working
    const list = given.toSorted((a, b) => Number(isLast(b)) - Number(isLast(a)))
    if (this.mayChange) this.#expiry.watch(list[0])
    return list
  }

  /** Forgets what was refused more than 30 s ago. */
  #tooManyLists(): boolean {
    const now = performance.now()
    for (const [key, until] of this.#refusedUntil) if (until <= now) this.#refusedUntil.delete(key)
    this.#listsRefusedUntil = this.#listsRefusedUntil.filter((until) => until > now)
    return this.#listsRefusedUntil.length >= mostRefusedLists
  }

  #worked(client: ClientCredentials): void {
    const key = keyOf(client)
    this.#refusedUntil.delete(key)
    this.#expiry.watch(client)
    const rotated = this.#working !== undefined && this.#working !== key
    this.#working = key
    const { issuer, emit } = this.#options
    if (rotated) emit?.({ type: 'credentials.rotated', issuer, clientId: client.clientId })
  }
}
