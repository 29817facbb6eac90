import { TokenlaneError } from '../errors.ts'
import { printable } from '../foreign-text.ts'
import { isText, own, refuse, shape } from './check.ts'
import { list, optional, type Reader, record, text } from './reader.ts'

/** One URL for all environments, or one per environment, by name. */
export type PerEnvironment = string | Readonly<Record<string, string>>

export type IsInsecureAllowed = (hostname: string) => boolean

/** Reads a URL. `http:` is refused, except to hosts where that is allowed; so is a query, except where it may stand. */
export type ReadUrl = (
  value: unknown,
  path: string,
  isInsecureAllowed: IsInsecureAllowed,
  query?: 'query allowed',
) => URL

export const readEnvironment: Reader<string | undefined> = optional(
  text('a name, such as testing or production'),
)

/**
 * Returns what picks the URLs of the environment that this process is in, and checks those of all environments. No origin
 * may serve two of them: a copy-paste there would send production secrets to a testing host.
 */
export function urlsOf(environment: unknown, read: ReadUrl = mustBeSecureUrl): ReadUrl {
  const origins = new Map<string, { name: string; path: string }>()
  return (value, path, ...allowed) => {
    if (typeof value !== 'object' || value instanceof URL) return read(value, path, ...allowed)
    const urls = new Map<unknown, URL>(
      record((given, urlPath, name) => {
        const url = read(given, urlPath, ...allowed)
        const known = origins.get(url.origin) ?? { name, path: urlPath }
        const sameOrigin = `on the same origin as \`${known.path}\` (${url.origin})`
        if (known.name !== name) refuse(urlPath, sameOrigin, 'an origin per environment')
        origins.set(url.origin, known)
        return url
      })(value, path),
    )
    const given = typeof environment === 'string' ? 'an unknown name' : shape(environment)
    const names = [...urls.keys()].join(', ')
    return urls.get(environment) ?? refuse('environment', given, `${names} (the environments of \`${path}\`)`)
  }
}

const loopbackName = /^(?:(?:.+\.)?localhost|\[::1\]|127(?:\.\d{1,3}){3})$/

export function isLoopback(hostname: string): boolean {
  return loopbackName.test(hostname)
}

/** Names and addresses that no server in the internet can have. */
const privateName =
  /^(?:[^.*[]+|[^*]+\.(?:internal|local|localhost|test)|(?:10|172\.(?:1[6-9]|2\d|3[01])|192\.168)[.\d]+|\[f[cd].+)$/

/** Reads hosts of a private network, as URLs spell them. */
export const readPrivateHosts: Reader<readonly string[]> = list((name, path) => {
  const isHost = isText(name) && privateName.test(name) && URL.parse(`http://${name}`)?.hostname === name
  const seen = isText(name) ? 'not the name of a private host' : shape(name)
  return isHost ? name : refuse(path, seen, 'a host without a port, such as keycloak or 172.17.0.2')
}, 'an array of hosts')

/** Returns the hosts that an issuer's options, which may be wrong, allow `http:` to. */
export function insecureHosts(issuer: unknown): IsInsecureAllowed {
  const hosts = own(issuer, 'allowInsecureHosts')
  const loopback = own(issuer, 'allowInsecureLoopback') === true
  return (name) => (loopback && isLoopback(name)) || (Array.isArray(hosts) && hosts.includes(name))
}

/** What an unset variable, a wildcard or a template leaves in a URL: no call would match it. */
const unset = /[/.](?:undefined|null|\*)(?![^/.:?])|\{|%7B/

/** Returns a URL that secrets and tokens may travel to: `https:`, or `http:` to a host where that is allowed. */
export const mustBeSecureUrl: ReadUrl = (value, path, isInsecureAllowed, query) => {
  const url = typeof value === 'string' ? URL.parse(value) : null
  const kind = isText(value) ? '' : ` in a string, but ${shape(value)}`
  if (url === null || unset.test(url.href))
    refuse(
      path,
      url ? 'a URL with a placeholder' : value ? `not an absolute URL${kind}` : shape(value),
      'an absolute https: URL without quotes, such as https://host/path/',
    )
  // a query or a fragment may be empty, which `search` and `hash` do not show
  const other = query === undefined ? /[?#]/ : /#|[?&]client_(?:secret|assertion)\b/i
  if (url.username !== '' || url.password !== '' || other.test(url.href))
    refuse(
      path,
      `a URL with a user name, ${query === undefined ? 'query' : 'secret'} or fragment`,
      `scheme, host${query === undefined ? ' and path' : ', path and query'} only`,
    )
  if (url.protocol === 'https:') return url
  if (url.protocol !== 'http:') refuse(path, 'a URL with another scheme', 'an https: URL')
  const { hostname } = url
  if (isInsecureAllowed(hostname)) return url
  const leave = isLoopback(hostname)
    ? 'allowInsecureLoopback: true'
    : privateName.test(hostname) && `allowInsecureHosts: ['${hostname}']`
  throw new TokenlaneError(
    'INSECURE_TRANSPORT',
    `\`${printable(path)}\` is an http: URL (${url.origin}), unsafe for secrets and tokens; use https:${leave ? `, or in a test set \`${leave}\` on its issuer` : ''}`,
  )
}

export function withoutLastSlash(url: string): string {
  return url.replace(/\/+$/, '')
}
