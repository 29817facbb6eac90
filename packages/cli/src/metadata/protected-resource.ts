import { printable } from '@tokenlane/core/adapter'

import { askableUrl, fieldsIn, getPublic, textIn, textsIn } from './public-response.ts'

/** What an API says of itself (RFC 9728 §2). */
export interface ProtectedResource {
  /** The URL under which it knows itself. Tokens are asked for with it, and every URL below it belongs to the API. */
  readonly resource: URL
  /** Issuer identifiers of the authorization servers that it names. */
  readonly authorizationServers: readonly string[]
  readonly scopes: readonly string[]
  /** Whether it only accepts tokens that are bound to a key (RFC 9449), which Tokenlane does not request. */
  readonly needsProof: boolean
}

const wellKnown = '/.well-known/oauth-protected-resource'

/** Returns where the metadata of an API may be, all of them on the API's own origin (RFC 9728 §3). */
export function metadataUrls(url: URL): readonly URL[] {
  const { pathname } = url
  // a resource whose identifier has no slash at its end is described at a path without one
  const paths = new Set([pathname === '/' ? '' : pathname, pathname.replace(/\/$/, ''), ''])
  return Array.from(paths, (path) => new URL(wellKnown + path, url))
}

/**
 * Reads the metadata of an API at the first of these URLs that has it.
 *
 * @returns why it is not usable, in words, if it is there and describes another API; `undefined` if there is none.
 * @throws CannotLook if a server does not respond, or the metadata is too large.
 */
export async function readProtectedResource(
  api: URL,
  places: readonly URL[],
): Promise<ProtectedResource | string | undefined> {
  for (const place of places) {
    const { body } = await getPublic(place, { body: true })
    const fields = fieldsIn(body)
    if (fields === undefined) continue
    const named = textIn(fields['resource'])
    const resource = askableUrl(named)
    if (resource === undefined || !contains(resource, api))
      return `${place.origin}${place.pathname} describes ${named === '' ? 'no resource' : printable(named, 100)} instead of ${api.origin}${api.pathname}, so it is ignored (RFC 9728 §3.3)`
    return {
      resource,
      authorizationServers: textsIn(fields['authorization_servers']),
      scopes: textsIn(fields['scopes_supported']),
      needsProof: fields['dpop_bound_access_tokens_required'] === true,
    }
  }
  return undefined
}

/** Returns whether a URL is below another one, on a boundary of its path's segments. */
export function contains(outer: URL, inner: URL): boolean {
  const path = outer.pathname.replace(/\/$/, '')
  return outer.origin === inner.origin && (inner.pathname === path || inner.pathname.startsWith(`${path}/`))
}

/** What a `Bearer` challenge says (RFC 6750 §3, RFC 9728 §5.1). */
export interface Challenge {
  /** The schemes that the server accepts, such as `bearer`. */
  readonly schemes: readonly string[]
  readonly resourceMetadata?: string
  readonly scope?: string
  readonly description?: string
}

/** A scheme, or a parameter with its value, quoted or not (RFC 9110 §11.2). */
const piece = /([\w-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s,]*)))?/g

/** Returns what a `WWW-Authenticate` header says. The parameters are those of its first `Bearer` challenge. */
export function challengeOf(wwwAuthenticate: string): Challenge {
  const schemes: string[] = []
  const parameters = new Map<string, string>()
  for (const [, name = '', quoted, bare] of wwwAuthenticate.slice(0, 8_192).matchAll(piece)) {
    const value = quoted?.replaceAll(/\\(.)/g, '$1') ?? bare
    const lower = name.toLowerCase()
    if (value === undefined) schemes.push(lower)
    else if (schemes.at(-1) === 'bearer' && !parameters.has(lower)) parameters.set(lower, value)
  }
  const resourceMetadata = parameters.get('resource_metadata')
  const scope = parameters.get('scope')
  const description = parameters.get('error_description')
  return {
    schemes,
    ...(resourceMetadata !== undefined && { resourceMetadata }),
    ...(scope !== undefined && { scope }),
    ...(description !== undefined && { description }),
  }
}
