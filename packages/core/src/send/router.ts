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
  /** Where tokens are requested. */
  #excluded: readonly URL[]
  /** Whether an excluded URL lies within an API, which is unusual; `undefined` until the first lookup after a change. */
  #excludesWithin: boolean | undefined
  /** The text that was looked up last: adapters look one call's URL up several times. */
  #lastText: string | undefined
  #lastMatch: T | undefined

  /** @param routes finds the place of a URL's API in `apis`. */
  constructor(routes: Routes, apis: ByPlace<T>, tokenEndpoints: readonly URL[] = []) {
    this.#apis = apis
    this.#routes = routes
    this.#excluded = tokenEndpoints
  }

  /** Takes a URL at which tokens are requested out of every API from now on, whatever its query. */
  exclude(url: URL): void {
    if (this.excludes(url)) return
    this.#excluded = [...this.#excluded, url]
    this.#excludesWithin = undefined
    this.#lastText = undefined
  }

  /** Whether tokens are requested at this URL. */
  excludes(url: URL): boolean {
    const place = placeOf(url)
    return this.#excluded.some((excluded) => placeOf(excluded) === place)
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
    this.#excludesWithin ??= this.#excluded.some((excluded) => this.#routes.find(excluded) !== undefined)
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
