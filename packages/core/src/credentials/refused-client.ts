import { isTokenlaneError, type TokenlaneError } from '../errors.ts'

/** How long a refusal is remembered, in milliseconds. */
export const refusalMemory = 30_000

/** Returns how long a refusal is remembered, in milliseconds: less if another process was refused before. */
export function refusalSpan({ retryAfter = refusalMemory }: TokenlaneError): number {
  return Math.min(refusalMemory, retryAfter)
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
