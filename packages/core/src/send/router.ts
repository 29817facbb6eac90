import type { Emit } from '../events.ts'
import type { Api } from './api.ts'
import { MissedRoutes } from './missed-routes.ts'

/**
 * A path that every URL parser leaves as it is: no segment begins with a dot, and nothing is escaped or to be escaped. So a
 * text that begins like an API and goes on like this needs no parser, which takes longer than all else here.
 */
const plainPath = /(?:\/(?!\.)[\w.~-]*)+(?=[?#]|$)/y
/** The first slash from here on begins the path, also after `http:` and a host of one character. */
const afterSlashes = 'https://'.length

/**
 * Finds the API that a URL belongs to: same origin, and the longest base path that is a prefix of its path on a segment
 * boundary. Any other URL is outside every API and gets no token, and so do the URLs at which tokens are requested.
 */
export class Router<T extends Pick<Api, 'baseUrl'>> {
  /** The longest first, so that the first one that fits is the right one. */
  readonly #apis: readonly T[]
  readonly #missed: MissedRoutes
  /** Origins and paths at which tokens are requested: a token request that waited for a token would never end. */
  readonly #tokenEndpoints = new Set<string>()

  constructor(apis: readonly T[], emit: Emit) {
    this.#apis = apis.toSorted((a, b) => b.baseUrl.length - a.baseUrl.length)
    this.#missed = new MissedRoutes(
      apis.map(({ baseUrl }) => baseUrl),
      emit,
    )
  }

  /** Takes a URL at which tokens are requested out of every API from now on, whatever its query. */
  exclude({ origin, pathname }: URL): void {
    if (this.#apis.some(({ baseUrl }) => baseUrl.startsWith(`${origin}/`)))
      this.#tokenEndpoints.add(origin + pathname)
  }

  /** Returns the API of an absolute URL, as the WHATWG URL parser reads it. */
  match(target: string | URL): T | undefined {
    const href = typeof target === 'string' ? target : target.href
    plainPath.lastIndex = href.indexOf('/', afterSlashes)
    if (plainPath.test(href))
      for (const api of this.#apis)
        if (isBelow(api.baseUrl, href))
          return this.#isTokenEndpoint(href, plainPath.lastIndex) ? undefined : api
    const url = typeof target === 'string' ? URL.parse(target) : target
    return url === null ? undefined : this.#matchParsed(url)
  }

  #isTokenEndpoint(href: string, endOfPath: number): boolean {
    return this.#tokenEndpoints.size > 0 && this.#tokenEndpoints.has(href.slice(0, endOfPath))
  }

  #matchParsed(url: URL): T | undefined {
    if (this.#tokenEndpoints.has(url.origin + url.pathname)) return undefined
    const api = this.#apis.find(({ baseUrl }) => isBelow(baseUrl, url.href))
    if (api === undefined) this.#missed.report(url)
    return api
  }
}

/** Whether a URL is below `baseUrl`, on a segment boundary. */
export function isBelow(baseUrl: string, href: string): boolean {
  // V8 takes twice as long for `startsWith`
  if (href.lastIndexOf(baseUrl, 0) !== 0) return false
  const next = href[baseUrl.length]
  return baseUrl.endsWith('/') || next === undefined || next === '/' || next === '?' || next === '#'
}
