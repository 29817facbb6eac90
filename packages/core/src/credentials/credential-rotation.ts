import { abortable } from '../time/abortable.ts'
import {
  type Credentials,
  type CredentialsProvider,
  type CredentialsContext,
  type CredentialsSource,
  unavailable,
  usableCredentials,
} from './credentials.ts'
import { isTokenlaneError, reasonOf, type TokenlaneError } from '../errors.ts'
import type { Emit } from '../events.ts'
import { SecretClock } from './secret-expiry.ts'

/** How long a refused client is not tried again, in milliseconds. */
export const refusalMemory = 30_000
/** So many refused clients in that time, and no other is tried: a provider may make up a new secret each time. */
const mostRefused = 8

/**
 * Which credentials one issuer is asked with: the ones that worked last before the others, none that were
 * refused in the last 30 s, and the provider is asked again at once when all are refused.
 */
export class RotatingCredentials {
  readonly #issuer: string
  readonly #source: CredentialsSource
  readonly #emit: Emit
  /** By client, on the monotonic clock. */
  readonly #refusedUntil = new Map<string, number>()
  readonly #clock: SecretClock
  #working: string | undefined
  #lastRefusal: TokenlaneError | undefined

  constructor(issuer: string, source: CredentialsSource, emit: Emit) {
    this.#issuer = issuer
    this.#source = source
    this.#emit = emit
    this.#clock = new SecretClock(issuer, emit)
    if (typeof source !== 'function') this.#clock.watch(inOrder(source, undefined)[0])
  }

  /** Days until the secret in use must be rotated; gives due notices on the way. */
  daysLeft(): number | undefined {
    return this.#clock.daysLeft()
  }

  /** Whether the credentials can be other ones than a moment ago, so that a refusal may be out of date. */
  get mayChange(): boolean {
    return typeof this.#source === 'function'
  }

  /**
   * The credentials that come first, whether they work or not: what the processes of a fleet have in common.
   *
   * @throws TokenlaneError `CREDENTIALS_UNAVAILABLE`
   */
  async first(reason: 'startup' | 'renewal', signal: AbortSignal): Promise<Credentials> {
    const [first] =
      typeof this.#source === 'function'
        ? await this.#given(this.#source, { reason, signal })
        : [this.#source].flat()
    return first as Credentials
  }

  /**
   * Calls `request` with one client after the other until one is not refused.
   *
   * @throws TokenlaneError the last refusal if all were refused, now or in the last 30 s, `CREDENTIALS_UNAVAILABLE`,
   * or at once what `request` throws for another reason.
   */
  async use<T>(
    request: (credentials: Credentials) => Promise<T>,
    reason: 'startup' | 'renewal',
    signal: () => AbortSignal,
  ): Promise<T> {
    let refusal: TokenlaneError | undefined
    let asked = false
    for (const ask of this.mayChange ? [reason, 'rejected' as const] : [reason]) {
      // nothing was refused just now, so there is nothing to ask again for
      if (ask === 'rejected' && !asked) break
      for (const credentials of await this.#ask({ reason: ask, signal: signal() })) {
        if (this.#isRefused(credentials)) continue
        asked = true
        try {
          const answer = await request(credentials)
          this.#worked(credentials)
          return answer
        } catch (error) {
          if (!isTokenlaneError(error) || error.code !== 'TOKEN_REQUEST_REFUSED') throw error
          this.#remember(credentials, error)
          refusal = error
          // no other secret makes a wrong scope right
          if (!isAboutClient(error)) throw error
        }
      }
    }
    throw refusal ?? this.#lastRefusal ?? unavailable(this.#issuer, 'the provider gave none')
  }

  async #ask(context: CredentialsContext): Promise<readonly Credentials[]> {
    if (typeof this.#source !== 'function') return inOrder(this.#source, this.#working)
    const usable = inOrder(await this.#given(this.#source, context), this.#working)
    this.#clock.watch(usable[0])
    return usable
  }

  async #given(source: CredentialsProvider, context: CredentialsContext): Promise<readonly Credentials[]> {
    let given: unknown
    try {
      given = await abortable(Promise.resolve(source(context)), context.signal)
    } catch (error) {
      throw unavailable(
        this.#issuer,
        context.signal.aborted ? 'the provider did not answer in time' : why(error),
      )
    }
    return usableCredentials(given, this.#issuer)
  }

  #remember(credentials: Credentials, error: TokenlaneError): void {
    this.#refusedUntil.set(keyOf(credentials), performance.now() + refusalMemory)
    this.#lastRefusal = error
  }

  #isRefused(credentials: Credentials): boolean {
    const now = performance.now()
    for (const [key, until] of this.#refusedUntil) if (until <= now) this.#refusedUntil.delete(key)
    return this.#refusedUntil.has(keyOf(credentials)) || this.#refusedUntil.size >= mostRefused
  }

  #worked(credentials: Credentials): void {
    const key = keyOf(credentials)
    this.#refusedUntil.delete(key)
    this.#clock.watch(credentials)
    const rotated = this.#working !== undefined && this.#working !== key
    this.#working = key
    if (rotated)
      this.#emit?.({ type: 'credentials.rotated', issuer: this.#issuer, clientId: credentials.clientId })
  }
}

function keyOf({ clientId, clientSecret }: Credentials): string {
  return JSON.stringify([clientId, clientSecret])
}

/** The client that worked last comes first. */
function inOrder(
  source: Credentials | readonly Credentials[],
  working: string | undefined,
): readonly Credentials[] {
  const list: readonly Credentials[] = Array.isArray(source) ? source : [source]
  const first = list.find((credentials) => keyOf(credentials) === working)
  return first === undefined ? list : [first, ...list.filter((credentials) => credentials !== first)]
}

function isAboutClient({ oauthError }: TokenlaneError): boolean {
  return oauthError === 'invalid_client' || oauthError === 'unauthorized_client'
}

/** Providers read files and vaults, whose errors may quote what they read: only a code is passed on. */
function why(error: unknown): string {
  if (isTokenlaneError(error) && error.code === 'CREDENTIALS_UNAVAILABLE') return reasonOf(error)
  const code = (error as { code?: unknown } | null)?.code
  const known = typeof code === 'string' && /^[\w.-]{1,64}$/.test(code)
  return known ? `the provider failed (${code})` : 'the provider failed'
}
