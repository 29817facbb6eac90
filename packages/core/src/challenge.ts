/**
 * Whether a 401 says that the token was refused (RFC 6750 §3.1): a `Bearer` challenge with
 * `error="invalid_token"`, or one without an error, or no challenge at all. Another error, or only another
 * scheme, is a no that no new token would change.
 */
export function refusesToken(wwwAuthenticate: string | null | undefined): boolean {
  if (!wwwAuthenticate) return true
  const bearer = /(?:^|,)\s*bearer(?:\s|,|$)/i.exec(wwwAuthenticate)
  if (bearer === null) return false
  const error = /\berror\s*=\s*"?([\w-]+)/i.exec(wwwAuthenticate.slice(bearer.index))
  return error === null || error[1]?.toLowerCase() === 'invalid_token'
}
