/** What a base URL stands for: everything on this origin, at or below this path. */
export interface Routed {
  readonly baseUrl: string
}

/** The APIs of one origin by path, each as its place in the list. */
interface Origin {
  readonly places: Map<string, number>
  longestPath: number
}

/**
 * Finds the base URL that a URL belongs to: same origin, and the longest base path that is a prefix of its path on
 * a segment boundary. Tenants with the same APIs share one.
 *
 * That takes time that grows with the segments of the path, not with the number of APIs.
 */
export class Routes {
  readonly #origins = new Map<string, Origin>()

  constructor(apis: readonly Routed[]) {
    for (const [place, { baseUrl }] of apis.entries()) this.#add(baseUrl, place)
  }

  /** Returns the place of the API in the list, `undefined` for a URL outside every API, or with a user name. */
  find({ href, pathname }: URL): number | undefined {
    // what stands before the path is the origin: a part of `href` takes half the time of `origin`, which Node composes
    const found = this.#origins.get(href.slice(0, href.indexOf('/', afterSlashes)))
    return found && longestBelow(found, pathname)
  }

  #add(baseUrl: string, place: number): void {
    const { origin, pathname } = new URL(baseUrl)
    const added = this.#origins.get(origin) ?? { places: new Map<string, number>(), longestPath: 0 }
    added.places.set(pathname, place)
    added.longestPath = Math.max(added.longestPath, pathname.length)
    this.#origins.set(origin, added)
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
