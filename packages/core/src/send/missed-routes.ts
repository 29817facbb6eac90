import type { Emit } from '../events.ts'
import { placeOf, type Routed, type Router } from './router.ts'

/** Paths that are reported at most: a process may call any number of them. */
const mostPaths = 100
const longestPath = 200

interface Reported {
  readonly baseUrls: ReadonlyMap<string, readonly string[]>
  /** Origin and path. */
  readonly places: Set<string>
}

/** Reports URLs that lie just outside every API: on the origin of one, outside the paths of all. Once for each path. */
export class MissedRoutes {
  readonly #apis: readonly Routed[]
  readonly #router: Pick<Router<Routed>, 'excludes'>
  readonly #emit: Emit
  #reported: Reported | undefined

  constructor(apis: readonly Routed[], router: Pick<Router<Routed>, 'excludes'>, emit: Emit) {
    this.#apis = apis
    this.#router = router
    this.#emit = emit
  }

  /** Looks at a URL that was found to be outside every API. */
  look(target: string | URL): void {
    // made when it is needed, since a process may have many tenants
    this.#reported ??= { baseUrls: byOrigin(this.#apis), places: new Set() }
    const { baseUrls, places } = this.#reported
    if (places.size >= mostPaths) return
    const url = typeof target === 'string' ? URL.parse(target) : target
    if (url === null || url.username !== '' || url.password !== '') return
    const apis = baseUrls.get(url.origin)
    // token requests get no token on purpose
    if (apis === undefined || places.has(placeOf(url)) || this.#router.excludes(url)) return
    places.add(placeOf(url))
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
