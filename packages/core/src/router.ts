/** What a base URL stands for: everything on this origin, at or below this path. */
export interface Routed {
  readonly baseUrl: string
}

/**
 * Finds the API that a URL belongs to: same origin, and the longest base path that is a prefix of its path on
 * a segment boundary. Any other URL belongs to none, and gets no token; nor do the token endpoints.
 */
export class Router<T extends Routed> {
  /** By origin, the longest path first. */
  readonly #apis = new Map<string, { readonly path: string; readonly api: T }[]>()
  /** Those that lie within an API, which is rare. */
  readonly #tokenEndpoints: ReadonlySet<string>

  constructor(apis: readonly T[], tokenEndpoints: readonly URL[] = []) {
    for (const api of apis) {
      const { origin, pathname } = new URL(api.baseUrl)
      const sameOrigin = this.#apis.get(origin) ?? []
      sameOrigin.push({ path: pathname, api })
      sameOrigin.sort((a, b) => b.path.length - a.path.length)
      this.#apis.set(origin, sameOrigin)
    }
    this.#tokenEndpoints = new Set(tokenEndpoints.filter((url) => this.#around(url)).map(placeOf))
  }

  /** The API of an absolute URL, as the WHATWG URL parser reads it. */
  match(target: string | URL): T | undefined {
    const url = typeof target === 'string' ? URL.parse(target) : target
    if (url === null || url.username !== '' || url.password !== '') return undefined
    // a token request that waits for a token would wait for ever
    if (this.#tokenEndpoints.size > 0 && this.#tokenEndpoints.has(placeOf(url))) return undefined
    return this.#around(url)
  }

  #around({ origin, pathname }: URL): T | undefined {
    return this.#apis.get(origin)?.find(({ path }) => isBelow(path, pathname))?.api
  }
}

function placeOf({ origin, pathname }: URL): string {
  return origin + pathname
}

function isBelow(path: string, pathname: string): boolean {
  if (!pathname.startsWith(path)) return false
  return path.endsWith('/') || pathname.length === path.length || pathname[path.length] === '/'
}
