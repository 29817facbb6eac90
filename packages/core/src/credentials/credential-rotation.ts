import { isTokenlaneError, type TokenlaneError, withMore } from '../errors.ts'
import type { Emit, RenewalReason } from '../events.ts'
import { withTimeLimit } from '../time/countdown.ts'
import { askProvider } from './ask-provider.ts'
import type { CheckedCredentials } from './check-credentials.ts'
import { type CredentialsKinds, keyOf, proofKeysOf } from './client.ts'
import { type ClientCredentials, type CredentialsContext } from './credentials.ts'
import { isRefusal, mayBeAboutClient, memoryOf, refusalMemory, refusalSpan } from './refused-client.ts'
import { secretExpiry, type SecretLifetime } from './secret-expiry.ts'

/** How many clients in 30 s may be refused and replaced: a provider may return a new wrong secret each time. */
const mostReplaced = 8

/** The longest distance between two looks at refused credentials, in milliseconds: a vault must not be asked for each call. */
const longestUnseen = 1_000

interface RotationOptions extends SecretLifetime {
  readonly credentials: CheckedCredentials
  readonly proofs: CredentialsKinds
}

export type CredentialRotation = ReturnType<typeof credentialRotation>

/** A refused client; times on the monotonic clock. */
interface Refused {
  readonly at: number
  readonly until: number
  readonly times: number
}

/** How long a refusal will be remembered, in milliseconds. */
export type MemoryOf = (refusal: TokenlaneError) => number

/** Decides with which credentials an issuer is asked: those that worked last first, none whose refusal is remembered. */
export function credentialRotation(options: RotationOptions, emit: Emit) {
  const { issuer, credentials, proofs } = options
  const { initial, provider } = credentials
  const expiry = secretExpiry(options, emit)
  let watched = provider === undefined ? initial[0] : undefined
  /** Returns the days until the secret in use must be rotated, if that is known; gives due notices on the way. */
  const daysLeft = (): number | undefined =>
    watched?.secretIssuedAt && expiry.daysLeft(watched.clientId, watched.secretIssuedAt)
  daysLeft()
  const refused = new Map<string, Refused>()
  let working: string | undefined
  let lastRefusal: TokenlaneError | undefined
  /** Since when clients are refused, and until when all are, as far as was seen, on the monotonic clock. */
  let refusedSince: number | undefined
  let seenUntil = -Infinity

  async function clientsNow(
    reason: CredentialsContext['reason'],
    timeLimit: () => number,
  ): Promise<readonly ClientCredentials[]> {
    if (provider === undefined) return initial
    return withTimeLimit(timeLimit(), (signal) => askProvider(provider, issuer, proofs, { reason, signal }))
  }

  const isRefused = (key: string): boolean => (refused.get(key)?.until ?? 0) > performance.now()

  function memoryFor(key: string, error: TokenlaneError): number {
    const { times = 0 } = refused.get(key) ?? {}
    return mayBeAboutClient(error) ? memoryOf(times, working === undefined) : refusalMemory
  }

  /** Returns what may have become of a refused client, to end a sentence. */
  function whyRefused(client: ClientCredentials, error: TokenlaneError): string {
    if (!mayBeAboutClient(error)) return ''
    const end = expiry.pastEndOf(client)
    if (end !== undefined) return `; by \`secretIssuedAt\`, it expired on ${end.toISOString().slice(0, 10)}`
    return keyOf(client) === working
      ? '; the issuer accepted it before: has it expired, or been replaced?'
      : ''
  }

  /** Remembers a refusal; returns its error, which says for how long. */
  function remember(
    client: ClientCredentials,
    key: string,
    error: TokenlaneError,
    memory: number,
  ): TokenlaneError {
    // a refusal of another process ends when that process may ask again
    const span = refusalSpan(error, memory)
    const at = performance.now()
    refused.set(key, { at, until: at + span, times: (refused.get(key)?.times ?? 0) + 1 })
    refusedSince ??= at
    return Object.assign(withMore(error, whyRefused(client, error)), { retryAfter: Math.ceil(span) })
  }

  /** All clients are refused: calls read no credentials for a fiftieth of the outage so far, or until a refusal ends. */
  function saw(): void {
    const now = performance.now()
    const ends = Array.from(refused.values(), ({ until }) => until).filter((until) => until > now)
    const unseen = Math.min(longestUnseen, (now - (refusedSince ?? now)) / 50)
    seenUntil = Math.min(now + unseen, ...ends)
  }

  return {
    daysLeft: (): number | undefined => daysLeft(),

    /**
     * Calls `request` with one client after the other until one is not refused; throws the last refusal if all were, now
     * or not long ago. A provider may take as many milliseconds as `timeLimit` returns.
     */
    async use<T>(
      request: (client: ClientCredentials, memory: MemoryOf) => Promise<T>,
      reason: RenewalReason,
      timeLimit: () => number,
    ): Promise<T> {
      if (lastRefusal !== undefined && performance.now() < seenUntil) throw lastRefusal
      let refusal: TokenlaneError | undefined
      let unproven: TokenlaneError | undefined
      for (const ask of [reason === 'startup' ? reason : 'renewal', 'rejected'] as const) {
        // what was refused just now may be out of date, if the credentials can change
        if (ask === 'rejected' && (provider === undefined || refusal === undefined)) break
        const clients = await clientsNow(ask, timeLimit)
        const isLast = (client: ClientCredentials): boolean => keyOf(client) === working
        const list = clients.toSorted((a, b) => Number(isLast(b)) - Number(isLast(a)))
        if (provider !== undefined) watched = list[0]
        daysLeft()
        const forgotten = performance.now() - 2 * refusalMemory
        for (const [key, { at }] of refused) if (at <= forgotten) refused.delete(key)
        const keys = proofKeysOf(clients)
        const given = new Set(keys.values())
        const recent = performance.now() - refusalMemory
        const replaced = [...refused].filter(([key, { at }]) => !given.has(key) && at > recent)
        if (replaced.length >= mostReplaced) break
        for (const client of list) {
          const key = keys.get(client) as string
          if (isRefused(key)) continue
          const memory: MemoryOf = (error) => memoryFor(key, error)
          try {
            const answer = await request(client, memory)
            refused.delete(key)
            refusedSince = undefined
            watched = client
            daysLeft()
            const before = working
            working = keyOf(client)
            if (before !== undefined && before !== working)
              emit({ type: 'credentials.rotated', issuer, clientId: client.clientId })
            return answer
          } catch (error) {
            // the issuer was not asked: another client may have what it proves itself with
            if (isTokenlaneError(error) && error.code === 'CREDENTIALS_UNAVAILABLE') {
              unproven ??= error
              continue
            }
            if (!isRefusal(error)) throw error
            refusal = lastRefusal = remember(client, key, error, memory(error))
            // no other secret makes a wrong scope right
            if (mayBeAboutClient(error)) continue
            saw()
            throw refusal
          }
        }
      }
      if (unproven === undefined) saw()
      // what is unproven may be there at the next try, which a refusal would put off
      throw (unproven ?? lastRefusal) as TokenlaneError
    },

    clients: (timeLimit: number): Promise<readonly ClientCredentials[]> =>
      clientsNow('startup', () => timeLimit),
    /** Returns what the issuer said to a client last, `undefined` if it was not asked with it. */
    outcomeOf(client: ClientCredentials): 'accepted' | 'refused' | undefined {
      if (keyOf(client) === working) return 'accepted'
      return isRefused(proofKeysOf([client]).get(client) as string) ? 'refused' : undefined
    },
  }
}
