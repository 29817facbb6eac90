/** What a base URL stands for: everything on this origin, at or below this path. */
export interface Routed {
  readonly baseUrl: string
}

/** The APIs of one origin by path, each as its place in the list. */
interface Origin {
  readonly places: Map<string, number>
  longestPath: number
  /** The API, if there is one only. */
  alone: Alone | undefined
}

/** The only API of its origin. */
interface Alone {
  /** What every URL below it begins with: its base URL, which ends with a slash here. */
  readonly prefix: string
  readonly place: number
}

/**
 * Finds the base URL that a URL belongs to: same origin, and the longest base path that is a prefix of its path on
 * a segment boundary. Tenants with the same APIs share one.
 *
 * That takes time that grows with the segments of the path, not with the number of APIs.
 */
export class Routes {
  readonly #origins = new Map<string, Origin>()
  /** The only API of its origin that a URL led to last. */
  #last: Alone | undefined

  constructor(apis: readonly Routed[]) {
    for (const [place, { baseUrl }] of apis.entries()) this.#add(baseUrl, place)
  }

  /** Returns the place of the API in the list, `undefined` for a URL outside every API, or with a user name. */
  find(url: URL): number | undefined {
    const { href } = url
    const last = this.#last
    // most calls go where the last one went: this takes 25 ns, `startsWith` 85 ns, and a lookup 110 ns
    if (last !== undefined && href.slice(0, last.prefix.length) === last.prefix) return last.place
    // what stands before the path is the origin, which Node would compose of its parts
    const origin = this.#origins.get(href.slice(0, href.indexOf('/', afterSlashes)))
    if (origin === undefined) return undefined
    if (origin.alone !== undefined) this.#last = origin.alone
    return longestBelow(origin, url.pathname)
  }

  #add(baseUrl: string, place: number): void {
    const { origin, pathname } = new URL(baseUrl)
    const added = this.#origins.get(origin)
    if (added === undefined) {
      const prefix = origin + (pathname.endsWith('/') ? pathname : `${pathname}/`)
      const places = new Map([[pathname, place]])
      this.#origins.set(origin, { places, longestPath: pathname.length, alone: { prefix, place } })
      return
    }
    added.places.set(pathname, place)
    added.longestPath = Math.max(added.longestPath, pathname.length)
    added.alone = undefined
  }
}

/** The first slash from here on begins the path, also after `http:` and a host of one character. */
const afterSlashes = 'https://'.length

/** Looks for the path itself, then for what stands before each of its slashes, with and without the slash. */
function longestBelow({ places, longestPath }: Origin, path: string): number | undefined {
  if (path.length <= longestPath && places.has(path)) return places.get(path)
  for (let end = path.lastIndexOf('/', longestPath); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const place = places.get(path.slice(0, end + 1)) ?? places.get(path.slice(0, end))
    if (place !== undefined) return place
  }
  return path.startsWith('/') ? places.get('/') : undefined
}
