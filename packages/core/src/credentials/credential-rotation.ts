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
import { secretExpiry, type SecretLifetime } from './secret-expiry.ts'

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

export type CredentialRotation = ReturnType<typeof credentialRotation>

/**
 * Decides with which credentials an issuer is asked: first those that worked last, and none that were refused in the
 * last 30 s. When all are refused, the provider is asked again at once.
 */
export function credentialRotation({ issuer, credentials, form, lifetime, emit }: RotationOptions) {
  const expiry = secretExpiry(issuer, lifetime, emit)
  if (typeof credentials !== 'function') expiry.watch([credentials].flat()[0])
  const mayChange = typeof credentials === 'function'
  /** By client, on the monotonic clock. */
  const refusedUntil = new Map<string, number>()
  /** By list of clients that were refused, on the monotonic clock. */
  let listsRefusedUntil: readonly number[] = []
  let working: string | undefined
  let lastRefusal: TokenlaneError | undefined

  /** Returns the clients of the credentials in their order. */
  async function given(
    reason: CredentialsContext['reason'],
    signal: AbortSignal,
  ): Promise<readonly ClientCredentials[]> {
    return typeof credentials === 'function'
      ? askProvider(credentials, { issuer, form }, reason, signal)
      : [credentials].flat()
  }

  function forgetOldRefusals(): void {
    const now = performance.now()
    for (const [key, until] of refusedUntil) if (until <= now) refusedUntil.delete(key)
    listsRefusedUntil = listsRefusedUntil.filter((until) => until > now)
  }

  function worked(client: ClientCredentials): void {
    const key = keyOf(client)
    refusedUntil.delete(key)
    expiry.watch(client)
    const rotated = working !== undefined && working !== key
    working = key
    if (rotated) emit?.({ type: 'credentials.rotated', issuer, clientId: client.clientId })
  }

  return {
    /** Whether the credentials can differ from a moment ago, so that a refusal may be out of date. */
    mayChange: (): boolean => mayChange,

    /** Returns the days until the secret in use must be rotated; gives due notices on the way. */
    daysLeft: (): number | undefined => expiry.daysLeft(),

    /** Returns the clients that are known before a provider is asked: it may have read them when it was checked. */
    initial(): readonly ClientCredentials[] {
      if (typeof credentials !== 'function') return [credentials].flat()
      const check = credentials.check as ((...form: readonly unknown[]) => unknown) | undefined
      const read = check?.(form.method, form)
      return Array.isArray(read) ? (read as ClientCredentials[]) : []
    },

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
      for (const ask of mayChange ? [reason, 'rejected' as const] : [reason]) {
        // nothing was refused just now, so there is nothing to ask again for
        if (ask === 'rejected' && refusal === undefined) break
        const clients = await given(ask, signal())
        const isLast = (client: ClientCredentials): boolean => keyOf(client) === working
        const list = clients.toSorted((a, b) => Number(isLast(b)) - Number(isLast(a)))
        if (mayChange) expiry.watch(list[0])
        forgetOldRefusals()
        if (listsRefusedUntil.length >= mostRefusedLists) break
        const refusedBefore = refusedUntil.size
        for (const client of list) {
          if (refusedUntil.has(keyOf(client))) continue
          try {
            const answer = await request(client)
            worked(client)
            return answer
          } catch (error) {
            if (!isTokenlaneError(error)) throw error
            // the issuer was not asked: another client may have what it proves itself with
            if (error.code === 'CREDENTIALS_UNAVAILABLE') {
              unproven ??= error
              continue
            }
            if (error.code !== 'TOKEN_REQUEST_REFUSED') throw error
            refusedUntil.set(keyOf(client), performance.now() + refusalSpan(error))
            refusal = lastRefusal = error
            // no other secret makes a wrong scope right
            if (!mayBeAboutClient(error)) throw error
          }
        }
        if (refusedUntil.size > refusedBefore)
          listsRefusedUntil = [...listsRefusedUntil, performance.now() + refusalMemory]
      }
      // what is unproven may be there at the next try, which a refusal would put off
      throw (
        unproven ??
        refusal ??
        lastRefusal ??
        unavailable(issuer, 'the provider returned none that can be tried now')
      )
    },

    /**
     * Returns every client of the credentials in their order, each once.
     *
     * @throws TokenlaneError `CREDENTIALS_UNAVAILABLE`
     */
    async known(signal: AbortSignal): Promise<readonly KnownClient[]> {
      const known = new Map<string, KnownClient>()
      for (const client of await given('startup', signal)) {
        const key = keyOf(client)
        const refused = refusedUntil.has(key) ? 'refused' : undefined
        known.set(key, { client, outcome: key === working ? 'accepted' : refused })
      }
      return [...known.values()]
    },
  }
}
