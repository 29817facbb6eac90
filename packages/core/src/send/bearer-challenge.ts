/** A scheme, or a parameter with its value, quoted or not (RFC 9110 §11.2). */
const piece = /([\w-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s,]*)))?/g

/**
 * Whether a 401 says that the token was refused (RFC 6750 §3.1): a `Bearer` challenge with
 * `error="invalid_token"`, or one without an error, or no challenge at all. Another error, or only another
 * scheme, is a no that no new token would change.
 */
export function refusesToken(wwwAuthenticate: string | null | undefined): boolean {
  if (!wwwAuthenticate) return true
  let scheme = ''
  let isBearer = false
  for (const [, name = '', quoted, bare] of wwwAuthenticate.matchAll(piece)) {
    const value = quoted ?? bare
    if (value === undefined) {
      scheme = name.toLowerCase()
      isBearer ||= scheme === 'bearer'
    } else if (scheme === 'bearer' && name.toLowerCase() === 'error')
      // some servers quote in a way of their own, or say nothing
      return /^\W*(?:invalid_token\W*)?$/i.test(value)
  }
  return isBearer
}
