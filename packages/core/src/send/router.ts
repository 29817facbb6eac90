import type { Routed, Routes } from './routes.ts'

export type { Routed } from './routes.ts'

/** An array of APIs, or what makes each when it is first asked for. */
interface ByPlace<T> {
  at(place: number): T | undefined
}

/**
 * Finds the API that a URL belongs to. Any other URL is outside every API and gets no token, and so do the URLs at which
 * tokens are requested.
 */
export class Router<T extends Routed> {
  readonly #apis: ByPlace<T>
  readonly #routes: Routes
  /** Where tokens are requested, without a query. */
  #excluded: readonly string[] = []
  /** Whether an excluded URL lies within an API, which is unusual. */
  #excludesWithin = false
  /** The text that was looked up last: adapters look one call's URL up several times. */
  #lastText: string | undefined
  #lastMatch: T | undefined

  /** @param routes finds the place of a URL's API in `apis`. */
  constructor(routes: Routes, apis: ByPlace<T>, tokenEndpoints: readonly URL[] = []) {
    this.#apis = apis
    this.#routes = routes
    for (const url of tokenEndpoints) this.exclude(url)
  }

  /** Takes a URL at which tokens are requested out of every API from now on, whatever its query. */
  exclude(url: URL): void {
    const place = placeOf(url)
    if (this.#excluded.includes(place)) return
    this.#excluded = [...this.#excluded, place]
    this.#excludesWithin ||= this.#routes.find(url) !== undefined
    this.#lastText = undefined
  }

  /** Whether tokens are requested at this URL. */
  excludes(url: URL): boolean {
    return this.#excluded.includes(placeOf(url))
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
    const place = this.#routes.find(url)
    return place === undefined ? undefined : this.#apis.at(place)
  }
}

/** Returns a URL without its query and fragment. */
export function placeOf({ origin, pathname }: URL): string {
  return origin + pathname
}
