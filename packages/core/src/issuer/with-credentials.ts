import type { CredentialRotation } from '../credentials/credential-rotation.ts'
import { StepTimeout } from '../time/timers.ts'
import type { ClientTokenSource, TokenSource } from './token-source.ts'

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
    async idle() {
      await source.idle?.()
    },
  }
}
