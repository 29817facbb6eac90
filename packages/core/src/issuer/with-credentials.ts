import type { CredentialRotation } from '../credentials/credential-rotation.ts'
import type { RenewalReason } from '../events.ts'
import { StepTimeout } from '../time/timers.ts'
import type { ClientTokenSource, Grant, TokenSource, Wait } from './token-source.ts'

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
  return new SourceWithCredentials(credentials, source, timeout)
}

/** A class, since a process may have many tenants, and closures take more memory. */
class SourceWithCredentials implements TokenSource {
  readonly #credentials: CredentialRotation
  readonly #source: ClientTokenSource
  readonly #timeout: number

  constructor(credentials: CredentialRotation, source: ClientTokenSource, timeout: number) {
    this.#credentials = credentials
    this.#source = source
    this.#timeout = timeout
  }

  async obtain(reason: RenewalReason, wait: Wait): Promise<Grant> {
    const look = new StepTimeout(() => Math.min(this.#timeout, Math.max(1, wait.timeLeft)))
    try {
      return await this.#credentials.use(
        (client) => {
          look.clear()
          return this.#source.obtain(client, reason, wait)
        },
        reason === 'startup' ? 'startup' : 'renewal',
        () => look.signal(),
      )
    } finally {
      look.clear()
    }
  }

  async idle(): Promise<void> {
    await this.#source.idle?.()
  }
}
