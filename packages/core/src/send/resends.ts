import type { ResendReason } from '../events.ts'
import type { AdmitOptions } from './api.ts'

const mostAfter401 = 2
const mostAfterLimit = 3

/** Counts how often one call is sent again. */
export class Resends {
  after401 = 0
  #afterLimit = 0

  /** Counts one more, unless the call was sent again often enough. Returns whether it may go. */
  add(reason: ResendReason): boolean {
    if (reason === 'limited') return (this.#afterLimit += 1) <= mostAfterLimit
    return (this.after401 += 1) <= mostAfter401
  }
}

/**
 * Returns whether the body of a call can be sent again, and neither the call nor its API forbids it.
 *
 * @param byApi what the API says: always, never, or the methods that may.
 */
export function mayResend(
  { method = '', replayable = true, resend }: AdmitOptions,
  byApi: boolean | readonly string[],
): boolean {
  if (!replayable) return false
  const allowed = resend ?? byApi
  return typeof allowed === 'boolean' ? allowed : allowed.includes(method)
}
