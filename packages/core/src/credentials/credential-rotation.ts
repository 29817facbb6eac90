import { askProvider } from './ask-provider.ts'
import {
  type ClientAuthenticationMethod,
  type ClientCredentials,
  type CredentialsContext,
  type CredentialsSource,
  unavailable,
} from './credentials.ts'
import { CredentialKeys } from './credential-keys.ts'
import { isTokenlaneError, type TokenlaneError } from '../errors.ts'
import type { Emit } from '../events.ts'
import { SecretExpiry, type SecretLifetime } from './secret-expiry.ts'

/** How long a refused client is not tried again, in milliseconds. */
export const refusalMemory = 30_000

/** Returns how long a refused client is not tried again, in milliseconds: less if another process was refused before. */
export function refusalSpan({ retryAfter = refusalMemory }: TokenlaneError): number {
  return Math.min(refusalMemory, retryAfter)
}

/** How many lists with a refused client are tried in that time: a provider may make up a secret each time. */
const mostRefusedLists = 8

/** One issuer's credentials, and how it takes them. */
export interface RotationOptions {
  /** Name of the issuer. */
  readonly issuer: string
  readonly source: CredentialsSource<ClientCredentials>
  readonly method: ClientAuthenticationMethod
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
  /** From the first credentials on that say when they were issued. */
  #expiry: SecretExpiry | undefined
  /** By client, on the monotonic clock. */
  #refusedUntil: Map<string, number> | undefined
  /** By list of clients that were refused, on the monotonic clock. */
  #listsRefusedUntil: readonly number[] = []
  readonly #keys = new CredentialKeys()
  #working: string | undefined
  #lastRefusal: TokenlaneError | undefined

  constructor(options: RotationOptions) {
    this.#options = options
    const { source } = options
    if (typeof source !== 'function') this.#watch([source].flat()[0])
  }

  /** Returns the days until the secret in use must be rotated; gives due notices on the way. */
  daysLeft(): number | undefined {
    return this.#expiry?.daysLeft()
  }

  /** Whether the credentials can be other ones than a moment ago, so that a refusal may be out of date. */
  get mayChange(): boolean {
    return typeof this.#options.source === 'function'
  }

  /**
   * Calls `request` with one client after the other until one is not refused.
   *
   * @throws TokenlaneError the last refusal if all were refused, now or in the last 30 s, `CREDENTIALS_UNAVAILABLE`,
   * or at once what `request` throws for another reason.
   */
  async use<T>(
    request: (credentials: ClientCredentials) => Promise<T>,
    reason: 'startup' | 'renewal',
    signal: () => AbortSignal,
  ): Promise<T> {
    let refusal: TokenlaneError | undefined
    for (const ask of this.mayChange ? [reason, 'rejected' as const] : [reason]) {
      // nothing was refused just now, so there is nothing to ask again for
      if (ask === 'rejected' && refusal === undefined) break
      const list = await this.#ask(ask, signal())
      if (this.#tooManyLists()) break
      const refusedBefore = this.#refusedClients
      for (const credentials of list) {
        if (this.#refusedUntil?.has(this.#keys.of(credentials)) === true) continue
        try {
          const answer = await request(credentials)
          this.#worked(credentials)
          return answer
        } catch (error) {
          if (!isTokenlaneError(error) || error.code !== 'TOKEN_REQUEST_REFUSED') throw error
          this.#refused(credentials, error)
          refusal = error
          // no other secret makes a wrong scope right
          if (!isAboutClient(error)) throw error
        }
      }
      if (this.#refusedClients > refusedBefore)
        this.#listsRefusedUntil = [...this.#listsRefusedUntil, performance.now() + refusalMemory]
    }
    throw (
      refusal ??
      this.#lastRefusal ??
      unavailable(this.#options.issuer, 'the provider returned none that may be tried now')
    )
  }

  /**
   * Returns every client of the credentials in their order, each once.
   *
   * @throws TokenlaneError `CREDENTIALS_UNAVAILABLE`
   */
  async known(signal: AbortSignal): Promise<readonly KnownClient[]> {
    const { source } = this.#options
    const list =
      typeof source === 'function'
        ? await askProvider(source, this.#options, 'startup', signal)
        : [source].flat()
    const known = new Map<string, KnownClient>()
    for (const client of list) known.set(this.#keys.of(client), { client, outcome: this.#outcomeOf(client) })
    return [...known.values()]
  }

  /** Follows the lifetime of these credentials from now on. */
  #watch(credentials: ClientCredentials | undefined): void {
    const { issuer, lifetime, emit } = this.#options
    if (credentials?.secretIssuedAt !== undefined) this.#expiry ??= new SecretExpiry(issuer, lifetime, emit)
    this.#expiry?.watch(credentials)
  }

  get #refusedClients(): number {
    return this.#refusedUntil?.size ?? 0
  }

  #outcomeOf(client: ClientCredentials): KnownClient['outcome'] {
    const key = this.#keys.of(client)
    if (key === this.#working) return 'accepted'
    return this.#refusedUntil?.has(key) === true ? 'refused' : undefined
  }

  async #ask(
    reason: CredentialsContext['reason'],
    signal: AbortSignal,
  ): Promise<readonly ClientCredentials[]> {
    const { source } = this.#options
    if (typeof source !== 'function') return this.#inOrder([source].flat())
    const list = this.#inOrder(await askProvider(source, this.#options, reason, signal))
    this.#watch(list[0])
    return list
  }

  #refused(credentials: ClientCredentials, error: TokenlaneError): void {
    // made when it is needed, since a process may have many tenants
    this.#refusedUntil ??= new Map()
    this.#refusedUntil.set(this.#keys.of(credentials), performance.now() + refusalSpan(error))
    this.#lastRefusal = error
  }

  /** Forgets what was refused more than 30 s ago. */
  #tooManyLists(): boolean {
    const now = performance.now()
    for (const [key, until] of this.#refusedUntil ?? []) if (until <= now) this.#refusedUntil?.delete(key)
    this.#listsRefusedUntil = this.#listsRefusedUntil.filter((until) => until > now)
    return this.#listsRefusedUntil.length >= mostRefusedLists
  }

  #worked(credentials: ClientCredentials): void {
    const key = this.#keys.of(credentials)
    this.#refusedUntil?.delete(key)
    this.#watch(credentials)
    const rotated = this.#working !== undefined && this.#working !== key
    this.#working = key
    const { issuer, emit } = this.#options
    if (rotated) emit?.({ type: 'credentials.rotated', issuer, clientId: credentials.clientId })
  }

  /** The client that worked last comes first. */
  #inOrder(list: readonly ClientCredentials[]): readonly ClientCredentials[] {
    const first = list.find((credentials) => this.#keys.of(credentials) === this.#working)
    return first === undefined ? list : [first, ...list.filter((credentials) => credentials !== first)]
  }
}

function isAboutClient({ oauthError }: TokenlaneError): boolean {
  return oauthError === 'invalid_client' || oauthError === 'unauthorized_client'
}
