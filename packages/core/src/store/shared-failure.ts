import { refusalMemory } from '../credentials/refused-client.ts'
import { isTokenlaneError, type TokenlaneError, type TokenlaneErrorCode } from '../errors.ts'
import { failure } from '../issuer/issuer-failure.ts'
import type { TokenEndpoint } from '../issuer/protocol.ts'
import { finiteDuration } from '../time/finite-duration.ts'
import type { StoredRefusal } from './token-seal.ts'

/** All processes leave the issuer alone after a failure, from here to there, in milliseconds. */
const shortestPause = 250
const longestPause = 300_000
/** By how much clocks of processes may differ, in milliseconds. */
const clockTolerance = 300_000
/** The errors of an issuer in trouble. */
const troubles = new Set<TokenlaneErrorCode>([
  'TOKEN_REQUEST_FAILED',
  'TOKEN_REQUEST_TIMEOUT',
  'TOKEN_RESPONSE_INVALID',
])

/**
 * Returns how long no process asks the issuer after this error, in milliseconds: together, the processes ask an issuer in
 * trouble not more often than one process would.
 */
export function sharedPause(error: unknown): number {
  if (!isTokenlaneError(error) || !troubles.has(error.code)) return 0
  const { retryAfter = shortestPause } = error
  return Math.min(longestPause, Math.max(shortestPause, retryAfter))
}

/** Returns whether a refusal is too old to be one that the store has kept: somebody has put it back. */
export function isPutBack({ refusedAt }: StoredRefusal): boolean {
  return !(Math.abs(Date.now() - refusedAt) <= refusalMemory + clockTolerance)
}

/** Returns the error of a process whose client was refused to another process. */
export function refusedBefore(
  endpoint: TokenEndpoint,
  { status, oauthError }: StoredRefusal,
  expiresIn: number = refusalMemory,
): TokenlaneError {
  const what = oauthError === undefined ? `status ${status}` : `${oauthError} (status ${status})`
  const reason = `refused another process with the same credentials: ${what}`
  const details = { status, oauthError, definite: true, retryAfter: finiteDuration(expiresIn, refusalMemory) }
  return failure(endpoint, 'TOKEN_REQUEST_REFUSED', reason, details)
}

/** Returns the error of a process that waited for the token of another one in vain. */
export function othersTooSlow(endpoint: TokenEndpoint): TokenlaneError {
  const reason = 'has not responded to the process that requests the token for all processes'
  return failure(endpoint, 'TOKEN_REQUEST_TIMEOUT', reason)
}
