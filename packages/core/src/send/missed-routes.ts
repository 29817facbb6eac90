import type { Emit } from '../events.ts'
import type { Routed, Router } from './router.ts'

/** Paths that are reported at most: a process may call any number of them. */
const mostPaths = 100
const longestPath = 200

/** Reports URLs that lie just outside every API: on the origin of one, outside the paths of all. Once for each path. */
export class MissedRoutes {
  readonly #router: Pick<Router<Routed>, 'apisBeside'>
  readonly #emit: Emit
  /** Origins and paths. */
  readonly #reported = new Set<string>()

  constructor(router: Pick<Router<Routed>, 'apisBeside'>, emit: Emit) {
    this.#router = router
    this.#emit = emit
  }

  /** Looks at a URL that was found to be outside every API. */
  look(target: string | URL): void {
    if (this.#reported.size >= mostPaths) return
    const url = typeof target === 'string' ? URL.parse(target) : target
    if (url === null) return
    const { origin, pathname } = url
    const apis = this.#router.apisBeside(url).map(({ baseUrl }) => baseUrl)
    if (apis.length === 0 || this.#reported.has(origin + pathname)) return
    this.#reported.add(origin + pathname)
    this.#emit?.({ type: 'route.missed', origin, path: pathname.slice(0, longestPath), apis })
  }
}
