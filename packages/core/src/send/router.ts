/** What a base URL stands for: everything on this origin, at or below this path. */
export interface Routed {
  readonly baseUrl: string
}

/** The APIs of one origin, by path. */
interface Origin<T> {
  readonly apis: Map<string, T>
  longestPath: number
}

/**
 * Finds the API that a URL belongs to: same origin, and the longest base path that is a prefix of its path on
 * a segment boundary. Any other URL is outside every API and gets no token, and so do the URLs at which tokens are
 * requested.
 *
 * That takes time that grows with the segments of the path, not with the number of APIs.
 */
export class Router<T extends Routed> {
  readonly #origins = new Map<string, Origin<T>>()
  /** Where tokens are requested, without a query. */
  readonly #excluded = new Set<string>()
  /** Whether an excluded URL lies within an API, which is unusual. */
  #excludesWithin = false
  /** The text that was looked up last: adapters look one call's URL up several times. */
  #lastText: string | undefined
  #lastMatch: T | undefined

  constructor(apis: readonly T[], tokenEndpoints: readonly URL[] = []) {
    for (const api of apis) this.#add(api)
    for (const url of tokenEndpoints) this.exclude(url)
  }

  /** Takes a URL at which tokens are requested out of every API from now on, whatever its query. */
  exclude(url: URL): void {
    const place = placeOf(url)
    if (this.#excluded.has(place)) return
    this.#excluded.add(place)
    this.#excludesWithin ||= this.#around(url) !== undefined
    this.#lastText = undefined
  }

  /** Whether tokens are requested at this URL. */
  excludes(url: URL): boolean {
    return this.#excluded.has(placeOf(url))
  }

  /** Returns the API of an absolute URL, as the WHATWG URL parser reads it. */
  match(target: string | URL): T | undefined {
    if (typeof target !== 'string') return this.#matchUrl(target)
    if (target !== this.#lastText) {
      this.#lastMatch = this.#matchUrl(URL.parse(target))
      this.#lastText = target
    }
    return this.#lastMatch
  }

  #matchUrl(url: URL | null): T | undefined {
    if (url === null || url.username !== '' || url.password !== '') return undefined
    // a token request that waited for a token would never end
    if (this.#excludesWithin && this.excludes(url)) return undefined
    return this.#around(url)
  }

  #around({ origin, pathname }: URL): T | undefined {
    const found = this.#origins.get(origin)
    return found && longestBelow(found, pathname)
  }

  #add(api: T): void {
    const { origin, pathname } = new URL(api.baseUrl)
    const added = this.#origins.get(origin) ?? { apis: new Map<string, T>(), longestPath: 0 }
    added.apis.set(pathname, api)
    added.longestPath = Math.max(added.longestPath, pathname.length)
    this.#origins.set(origin, added)
  }
}

/** Looks for the path itself, then for what stands before each of its slashes, with and without the slash. */
function longestBelow<T>({ apis, longestPath }: Origin<T>, path: string): T | undefined {
  if (path.length <= longestPath && apis.has(path)) return apis.get(path)
  for (let end = path.lastIndexOf('/', longestPath); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const api = apis.get(path.slice(0, end + 1)) ?? apis.get(path.slice(0, end))
    if (api !== undefined) return api
  }
  return path.startsWith('/') ? apis.get('/') : undefined
}

/** Returns a URL without its query and fragment. */
export function placeOf({ origin, pathname }: URL): string {
  return origin + pathname
}
