import type { Emit } from '../events.ts'
import type { Routed } from './router.ts'

/** Paths that are reported at most: a process may call any number of them. */
const mostPaths = 100
const longestPath = 200

/** Reports URLs that lie just outside every API: on the origin of one, below none of their paths. Once per path. */
export class MissedRoutes {
  readonly #apis: ReadonlyMap<string, readonly string[]>
  readonly #emit: Emit
  /** Origin and path; those of the token endpoints from the start, since they get no token on purpose. */
  readonly #known: Set<string>
  readonly #most: number

  constructor(apis: readonly Routed[], tokenEndpoints: readonly URL[], emit: Emit) {
    this.#apis = byOrigin(apis)
    this.#emit = emit
    this.#known = new Set(tokenEndpoints.map(({ origin, pathname }) => origin + pathname))
    this.#most = this.#known.size + mostPaths
  }

  /** Looks at a URL that was found to be outside every API. */
  look(target: string | URL): void {
    if (this.#known.size >= this.#most) return
    const url = typeof target === 'string' ? URL.parse(target) : target
    if (url === null || url.username !== '' || url.password !== '') return
    const apis = this.#apis.get(url.origin)
    const place = url.origin + url.pathname
    if (apis === undefined || this.#known.has(place)) return
    this.#known.add(place)
    const path = url.pathname.slice(0, longestPath)
    this.#emit?.({ type: 'route.missed', origin: url.origin, path, apis })
  }
}

function byOrigin(apis: readonly Routed[]): Map<string, string[]> {
  const origins = new Map<string, string[]>()
  for (const { baseUrl } of apis) {
    const { origin } = new URL(baseUrl)
    const sameOrigin = origins.get(origin)
    if (sameOrigin === undefined) origins.set(origin, [baseUrl])
    else sameOrigin.push(baseUrl)
  }
  return origins
}
