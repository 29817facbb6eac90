/** Longer ones are left to the parser: they could overflow the stack of a regular expression. */
const longestPlain = 8_192

/** What a base URL stands for: everything on this origin, at or below this path. */
export interface Routed {
  readonly baseUrl: string
}

/**
 * Finds the API that a URL belongs to: same origin, and the longest base path that is a prefix of its path on
 * a segment boundary. Any other URL belongs to none, and gets no token; nor do the token endpoints.
 */
export class Router<T extends Routed> {
  readonly #origins = new Map<string, Origin<T>>()
  /** That of the last match: nearly always that of the next. */
  #recent: Origin<T> | undefined
  /** Those that lie within an API, which is rare. */
  readonly #tokenEndpoints: ReadonlySet<string>

  constructor(apis: readonly T[], tokenEndpoints: readonly URL[] = []) {
    for (const api of apis) {
      const { origin, pathname } = new URL(api.baseUrl)
      const { apis: sameOrigin } = this.#origins.get(origin) ?? this.#add(origin)
      sameOrigin.push({ path: pathname, api })
      sameOrigin.sort((a, b) => b.path.length - a.path.length)
    }
    this.#tokenEndpoints = new Set(tokenEndpoints.filter((url) => this.#around(url)).map(placeOf))
  }

  /** The API of an absolute URL, as the WHATWG URL parser reads it. */
  match(target: string | URL): T | undefined {
    if (typeof target === 'string') return this.#matchPlain(target) ?? this.#matchAny(target)
    return (target instanceof URL ? this.#matchPlain(target.href) : undefined) ?? this.#matchAny(target)
  }

  /** Without the parser, where it would leave origin and path as they stand: that is several times as fast. */
  #matchPlain(url: string): T | undefined {
    if (this.#tokenEndpoints.size > 0 || url.length > longestPlain) return undefined
    if (this.#recent?.plain.test(url) !== true) {
      const end = url.indexOf('/', 'https://'.length)
      this.#recent = this.#origins.get(url.slice(0, Math.max(0, end)))
      if (this.#recent?.plain.test(url) !== true) return undefined
    }
    const { apis, pathAt } = this.#recent
    return longestBelow(apis, url, pathAt)
  }

  #matchAny(target: string | URL): T | undefined {
    const url = typeof target === 'string' ? URL.parse(target) : target
    if (url === null || url.username !== '' || url.password !== '') return undefined
    // a token request that waits for a token would wait for ever
    if (this.#tokenEndpoints.size > 0 && this.#tokenEndpoints.has(placeOf(url))) return undefined
    return this.#around(url)
  }

  #around({ origin, pathname }: URL): T | undefined {
    const { apis } = this.#origins.get(origin) ?? {}
    return apis && longestBelow(apis, pathname, 0)
  }

  #add(origin: string): Origin<T> {
    const added: Origin<T> = { plain: plainUrl(origin), pathAt: origin.length, apis: [] }
    this.#origins.set(origin, added)
    return added
  }
}

interface Origin<T> {
  /** The URLs of this origin that the parser would leave as they stand, up to the end of the path. */
  readonly plain: RegExp
  readonly pathAt: number
  /** The longest path first. */
  readonly apis: { readonly path: string; readonly api: T }[]
}

/** What the parser may write otherwise: a segment that begins with a dot, and most characters. */
function plainUrl(origin: string): RegExp {
  // a host may have more characters than a name: `*`, `+` and `$` are allowed
  const literally = origin.replace(/\W/g, '\\$&')
  return new RegExp(`^${literally}(?:/(?!\\.)[\\w!$&'()*+,.:;=@~-]*)+(?:[?#]|$)`)
}

function longestBelow<T>(apis: Origin<T>['apis'], url: string, start: number): T | undefined {
  for (const { path, api } of apis) if (isBelow(path, url, start)) return api
  return undefined
}

function placeOf({ origin, pathname }: URL): string {
  return origin + pathname
}

/** Whether the path that begins at `start` is this one, or goes on below it. */
function isBelow(path: string, url: string, start: number): boolean {
  if (!url.startsWith(path, start)) return false
  if (path.endsWith('/')) return true
  const next = url[start + path.length]
  return next === undefined || next === '/' || next === '?' || next === '#'
}
