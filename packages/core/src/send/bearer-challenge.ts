import type { Report } from './api.ts'

/** A scheme, or a parameter with its value, quoted or not (RFC 9110 §11.2). */
const piece = /([\w-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s,]*)))?/g

/**
 * Returns whether a response says that the token was refused (RFC 6750 §3.1): a 401 with a `Bearer` challenge with
 * `error="invalid_token"`, by one without an error, or without any challenge. A new token does not help against another
 * error, or where only another scheme is asked for.
 */
export function refusesToken({ status, wwwAuthenticate }: Report): boolean {
  if (status !== 401) return false
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
