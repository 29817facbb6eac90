import { refuse, shape } from './check.ts'
import { TokenlaneError } from '../errors.ts'
import { printable } from '../foreign-text.ts'

const loopback = /^(?:(?:.+\.)?localhost|\[::1\]|127(?:\.\d{1,3}){3})$/

/**
 * Returns a URL that secrets and tokens may travel to: `https:`, or `http:` to this machine where that is allowed.
 *
 * @throws TokenlaneError `INSECURE_TRANSPORT` for `http:`, `INVALID_OPTIONS` for anything else that is wrong.
 */
export function mustBeSecureUrl(value: unknown, path: string, allowInsecureLoopback: boolean): URL {
  if (typeof value !== 'string' || value === '') refuse(path, shape(value), 'an absolute https: URL')
  const url = URL.parse(value)
  if (url === null) refuse(path, 'not an absolute URL', 'an absolute https: URL, such as https://host/path/')
  if (url.username !== '' || url.password !== '')
    refuse(path, 'a URL with credentials', 'a URL without user name or password')
  if (!/^https?:$/.test(url.protocol)) refuse(path, 'a URL with another scheme', 'an https: URL')
  const isLoopback = loopback.test(url.hostname)
  if (url.protocol === 'http:' && !(isLoopback && allowInsecureLoopback)) {
    const fix = isLoopback ? 'use https:, or set `allowInsecureLoopback: true` on its issuer' : 'use https:'
    throw new TokenlaneError(
      'INSECURE_TRANSPORT',
      `\`${printable(path)}\` is an http: URL (${url.origin}), which would send secrets or tokens unprotected; ${fix}`,
    )
  }
  // also empty ones, which `search` and `hash` do not show
  if (url.href.includes('?') || url.href.includes('#'))
    refuse(path, 'a URL with a query or a fragment', 'scheme, host and path only')
  return url
}

/** Returns a URL or a path without the slashes at its end. */
export function withoutLastSlash(text: string): string {
  return text.replace(/\/+$/, '')
}
