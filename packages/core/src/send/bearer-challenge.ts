import { readInstant } from '../time/read-instant.ts'
import type { Report } from './api.ts'

/** A scheme, or a parameter with its value, quoted or not (RFC 9110 §11.2). */
const piece = /([\w-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s,]*)))?/g

/** By which status an API refuses a token (RFC 6750 §3.1). */
export const refusedByDefault: readonly number[] = [401]

/** What else than the token an API may complain of (RFC 6750 §3.1, RFC 9470 §3, Entra ID): a new token does not help. */
const otherReasons = new Set([
  'invalid_request',
  'insufficient_scope',
  'insufficient_user_authentication',
  'insufficient_claims',
])

/**
 * How libraries say that a token is not valid yet: ASP.NET Core and Go, PyJWT, jsonwebtoken, Google, Spring, jose.
 * Keycloak's "Token is not active" is about an expired one.
 */
const notYet =
  /not valid (?:yet|before)|not yet valid|jwt not active|used (?:too early|before (?:\d|issued))|(?:nbf|iat)\W{1,3}claim time/i
/**
 * Returns by how many milliseconds the `Date` of an API that refuses a token is before the one of its issue, or 0 where only
 * the challenge says that the token is not valid yet (RFC 7519 §4.1.5); `Infinity` where neither does.
 */
export function clockBehind({ wwwAuthenticate, header }: Report, issued: string | null | undefined): number {
  const behind = (readInstant(issued) ?? 0) - (readInstant(header?.('date')) ?? Infinity)
  if (behind > 0) return behind
  return notYet.test(wwwAuthenticate ?? header?.('www-authenticate') ?? '') ? 0 : Infinity
}

/**
 * Returns whether a response says that the token was refused (RFC 6750 §3.1): by one of these statuses, unless a `Bearer`
 * challenge names another reason. Challenges of other schemes say nothing: many APIs ask for `Basic`, or for a scheme of
 * their own, whatever they refused. An unknown word, such as `expired_token`, speaks of the token.
 */
export function refusesToken(
  { status, wwwAuthenticate, header }: Report,
  statuses: readonly number[],
): boolean {
  if (!statuses.includes(status)) return false
  const challenge = wwwAuthenticate ?? header?.('www-authenticate') ?? ''
  let scheme = ''
  for (const [, name = '', quoted, bare] of challenge.matchAll(piece)) {
    const value = quoted ?? bare
    if (value === undefined) scheme = name.toLowerCase()
    else if (scheme === 'bearer' && name.toLowerCase() === 'error')
      // some servers quote in a way of their own
      return !otherReasons.has(value.replaceAll(/^\W+|\W+$/g, '').toLowerCase())
  }
  return true
}
