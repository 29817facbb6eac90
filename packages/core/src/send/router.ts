import type { Emit } from '../events.ts'
import type { Api } from './api.ts'

/** What lies on one origin. */
interface Origin<T> {
  readonly apis: Map<string, T>
  longestPath: number
  /** Where tokens are requested: a token request that waited for a token would never end. */
  readonly tokenPaths: Set<string>
}

/** Missed paths that are reported at most, and their length: a process may call any number of them. */
const mostReported = 100
const longestReported = 200

/**
 * Finds the API that a URL belongs to: same origin, and the longest base path that is a prefix of its path on a segment
 * boundary. Any other URL is outside every API and gets no token, and so do the URLs at which tokens are requested. One
 * on the origin of an API, but outside the paths of all, is reported once for each path.
 *
 * That takes time that grows with the segments of the path, not with the number of APIs.
 */
export class Router<T extends Pick<Api, 'baseUrl'>> {
  readonly #origins = new Map<string, Origin<T>>()
  readonly #emit: Emit
  /** Origins and paths. */
  readonly #reported = new Set<string>()

  constructor(apis: readonly T[], emit?: Emit) {
    this.#emit = emit
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
    const isText = typeof target === 'string'
    const href = isText ? target : target.href
    const slash = href.indexOf('/', afterSlashes)
    // the origin, or one with a user name, which no API has
    const beforePath = href.slice(0, slash)
    const origin = this.#origins.get(beforePath)
    const path = isText ? plainPath(href, slash) : target.pathname
    if (isText && (origin === undefined || path === undefined)) {
      const url = URL.parse(target)
      return url === null ? undefined : this.match(url)
    }
    if (origin === undefined || path === undefined || origin.tokenPaths.has(path)) return undefined
    const api = apiAt(path, origin)
    if (api === undefined && this.#emit?.isObserved === true) this.#report(beforePath, path, origin)
    return api
  }

  #report(origin: string, pathname: string, { apis }: Origin<T>): void {
    const missed = origin + pathname
    if (this.#reported.size >= mostReported || this.#reported.has(missed)) return
    this.#reported.add(missed)
    const path = pathname.slice(0, longestReported)
    this.#emit?.({
      type: 'route.missed',
      origin,
      path,
      apis: Array.from(apis.values(), (api) => api.baseUrl),
    })
  }
}

function apiAt<T>(path: string, { apis, longestPath }: Origin<T>): T | undefined {
  if (path.length <= longestPath && apis.has(path)) return apis.get(path)
  // what stands before each slash, with and without the slash
  for (let end = path.lastIndexOf('/', longestPath); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const api = apis.get(path.slice(0, end + 1)) ?? apis.get(path.slice(0, end))
    if (api !== undefined) return api
  }
  return apis.get('/')
}

/**
 * A path that every URL parser leaves as it is: no segment begins with a dot, and nothing is escaped or to be escaped. So a
 * text that begins with an API's origin and goes on like this needs no parser, which takes longer than all else here.
 */
const plain = /(?:\/(?!\.)[\w.~-]*)+(?=[?#]|$)/y

/** Returns the path that begins at this place, if it is plain. */
function plainPath(href: string, start: number): string | undefined {
  plain.lastIndex = start
  return plain.test(href) ? href.slice(start, plain.lastIndex) : undefined
}

/** The first slash from here on begins the path, also after `http:` and a host of one character. */
const afterSlashes = 'https://'.length
