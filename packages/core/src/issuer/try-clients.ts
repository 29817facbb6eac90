import type { ClientCredentials } from '../credentials/credentials.ts'
import type { CredentialRotation } from '../credentials/credential-rotation.ts'
import { isTokenlaneError } from '../errors.ts'
import type { ClientTokenSource, Wait } from './token-source.ts'

/** What the issuer says to one of several clients. */
export interface ClientOutcome {
  readonly clientId: string
  /** `unknown` if the request failed for a reason that is not the client's. */
  readonly outcome: 'accepted' | 'refused' | 'unknown'
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
  return Promise.all(
    clients.map(async ({ client, outcome }) => ({
      clientId: client.clientId,
      outcome: outcome ?? (await ask(source, client)),
    })),
  )
}

async function ask(source: ClientTokenSource, client: ClientCredentials): Promise<ClientOutcome['outcome']> {
  try {
    await source.obtain(client, 'startup', noWait)
    return 'accepted'
  } catch (error) {
    return isTokenlaneError(error) && error.oauthError === 'invalid_client' ? 'refused' : 'unknown'
  }
}

/** No call waits for what comes of it. */
const noWait: Wait = { timeLeft: Infinity, needed: false, accepts: () => true, pause: async () => {} }
