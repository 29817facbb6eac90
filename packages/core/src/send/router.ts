/** What a base URL stands for: everything on this origin, at or below this path. */
export interface Routed {
  readonly baseUrl: string
}

/** What lies on one origin. */
interface Origin<T> {
  readonly apis: Map<string, T>
  longestPath: number
  /** Where tokens are requested: a token request that waited for a token would never end. */
  readonly tokenPaths: Set<string>
}

/**
 * Finds the API that a URL belongs to: same origin, and the longest base path that is a prefix of its path on a segment
 * boundary. Any other URL is outside every API and gets no token, and so do the URLs at which tokens are requested.
 *
 * That takes time that grows with the segments of the path, not with the number of APIs.
 */
export class Router<T extends Routed> {
  readonly #origins = new Map<string, Origin<T>>()

  constructor(apis: readonly T[]) {
    for (const api of apis) {
      const { origin, pathname } = new URL(api.baseUrl)
      const known = this.#origins.get(origin) ?? { apis: new Map(), longestPath: 0, tokenPaths: new Set() }
      this.#origins.set(origin, known)
      known.apis.set(pathname, api)
      known.longestPath = Math.max(known.longestPath, pathname.length)
    }
  }

  /** Takes a URL at which tokens are requested out of every API from now on, whatever its query. */
  exclude({ origin, pathname }: URL): void {
    this.#origins.get(origin)?.tokenPaths.add(pathname)
  }

  /** Returns the API of an absolute URL, as the WHATWG URL parser reads it. */
  match(target: string | URL): T | undefined {
    const url = typeof target === 'string' ? URL.parse(target) : target
    if (url === null) return undefined
    const origin = this.#originOf(url)
    if (origin === undefined) return undefined
    const { apis, longestPath } = origin
    const { pathname: path } = url
    if (path.length <= longestPath && apis.has(path)) return apis.get(path)
    // what stands before each slash, with and without the slash
    for (let end = path.lastIndexOf('/', longestPath); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const api = apis.get(path.slice(0, end + 1)) ?? apis.get(path.slice(0, end))
      if (api !== undefined) return api
    }
    return apis.get('/')
  }

  /** Returns all APIs on the origin of a URL, none for a URL at which tokens are requested. */
  apisBeside(url: URL): readonly T[] {
    return [...(this.#originOf(url)?.apis.values() ?? [])]
  }

  #originOf({ href, pathname }: URL): Origin<T> | undefined {
    // what stands before the path: the origin, or one with a user name, which no API has
    const origin = this.#origins.get(href.slice(0, href.indexOf('/', afterSlashes)))
    return origin?.tokenPaths.has(pathname) ? undefined : origin
  }
}

/** The first slash from here on begins the path, also after `http:` and a host of one character. */
const afterSlashes = 'https://'.length
