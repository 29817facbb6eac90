import type { ClientCredentials } from '../credentials/credentials.ts'
import type { CredentialRotation, KnownClient } from '../credentials/credential-rotation.ts'
import { mayBeAboutClient } from '../credentials/refused-client.ts'
import { isTokenlaneError, reasonOf } from '../errors.ts'
import { StepTimeout } from '../time/timers.ts'
import type { ClientTokenSource, TokenSource, Wait } from './token-source.ts'

/**
 * Returns the source that knows which client to ask for: it asks `source` for one client of `credentials` after the
 * other until one is not refused.
 *
 * @param timeout how long one look at the credentials may take, in milliseconds.
 */
export function withCredentials(
  credentials: CredentialRotation,
  source: ClientTokenSource,
  timeout: number,
): TokenSource {
  return {
    async obtain(reason, wait) {
      const look = new StepTimeout(() => Math.min(timeout, Math.max(1, wait.timeLeft)))
      try {
        return await credentials.use(
          (client) => {
            look.clear()
            return source.obtain(client, reason, wait)
          },
          reason === 'startup' ? 'startup' : 'renewal',
          () => look.signal(),
        )
      } finally {
        look.clear()
      }
    },
    idle: async () => source.idle?.(),
  }
}

/** A client of the credentials, and where its assertion comes from. */
export interface ClientDescription {
  readonly clientId: string
  /** Set if the client's assertion comes from outside; `path` is the file that it is read from, if any. */
  readonly assertion?: { readonly path?: string | undefined }
}

/** What the issuer says to one of several clients. */
export interface ClientOutcome extends ClientDescription {
  /** `unknown` if the request failed for a reason that is not the client's. */
  readonly outcome: 'accepted' | 'refused' | 'unknown'
  /** Set with `assertion`: why that was not sent. */
  readonly fault?: string | undefined
}

/** Returns what can be printed of a client. */
export function describeClient(client: ClientCredentials): ClientDescription {
  const { clientId } = client
  return { clientId, ...('assertion' in client && { assertion: { path: client.assertion.readsFrom?.() } }) }
}

/**
 * Returns what the issuer says to each client of the credentials, in their order. Asks it once for each client that has
 * neither got a token nor been refused one so far; the tokens are thrown away.
 *
 * @param timeout how long the look at the credentials may take, in milliseconds.
 * @throws TokenlaneError `CREDENTIALS_UNAVAILABLE`
 */
export async function tryClients(
  credentials: CredentialRotation,
  source: ClientTokenSource,
  timeout: number,
): Promise<readonly ClientOutcome[]> {
  const clients = await credentials.known(AbortSignal.timeout(timeout))
  return Promise.all(clients.map((known) => outcomeOf(known, source)))
}

async function outcomeOf(
  { client, outcome }: KnownClient,
  source: ClientTokenSource,
): Promise<ClientOutcome> {
  const described = describeClient(client)
  if (outcome !== undefined) return { ...described, outcome }
  try {
    await source.obtain(client, 'startup', noWait)
    return { ...described, outcome: 'accepted' }
  } catch (error) {
    if (!isTokenlaneError(error)) return { ...described, outcome: 'unknown' }
    const isUnproven = 'assertion' in client && error.code === 'CREDENTIALS_UNAVAILABLE'
    return {
      ...described,
      outcome: mayBeAboutClient(error) ? 'refused' : 'unknown',
      ...(isUnproven && { fault: reasonOf(error) }),
    }
  }
}

/** No call waits for what comes of it. */
const noWait: Wait = { timeLeft: Infinity, needed: false, accepts: () => true, pause: async () => {} }
