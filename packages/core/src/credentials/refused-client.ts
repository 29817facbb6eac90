import { isTokenlaneError, type TokenlaneError } from '../errors.ts'
import { betweenHalfAndWhole } from '../time/backoff.ts'

/** How long a refusal is remembered, in milliseconds. */
export const refusalMemory = 30_000
/** The first refusals in a row: not all replicas of an issuer may know a new secret, or a new client at a start. */
const firstMemories = [2_000, 6_000]

/** Returns how long a refusal is remembered, in milliseconds. @param refusals - before it, in a row. */
export function memoryOf(refusals: number, isStart: boolean): number {
  const first = isStart || refusals === 0 ? firstMemories[refusals] : undefined
  return first === undefined ? refusalMemory : betweenHalfAndWhole(first)
}

/** Returns how long a refusal is remembered, in milliseconds: less where it says so itself. */
export function refusalSpan({ retryAfter }: TokenlaneError, memory: number = refusalMemory): number {
  return Math.min(refusalMemory, retryAfter ?? memory)
}

/** The errors that say that the request is wrong, whoever sends it (RFC 6749 §5.2, RFC 8707 §2). */
export const aboutRequest: ReadonlySet<string> = new Set([
  'invalid_request',
  'invalid_scope',
  'invalid_target',
  'invalid_grant',
  'unsupported_grant_type',
])

export function isRefusal(error: unknown): error is TokenlaneError {
  return isTokenlaneError(error) && error.code === 'TOKEN_REQUEST_REFUSED'
}

/** Returns whether an error is a refusal that may be about the client, so that another client may not be refused. */
export function mayBeAboutClient(error: unknown): boolean {
  return isRefusal(error) && !aboutRequest.has(error.oauthError ?? '')
}
