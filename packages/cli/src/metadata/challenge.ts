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
