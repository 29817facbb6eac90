import type { Emit } from '../events.ts'
import type { Routed, Router } from './router.ts'

/** Paths that are reported at most: a process may call any number of them. */
const mostPaths = 100
const longestPath = 200

/**
 * Returns what reports URLs that lie just outside every API: on the origin of one, outside the paths of all. Once for
 * each path.
 */
export function missedRoutes(
  router: Pick<Router<Routed>, 'apisBeside'>,
  emit: Emit,
): (target: string | URL) => void {
  /** Origins and paths. */
  const reported = new Set<string>()
  return (target) => {
    if (reported.size >= mostPaths) return
    const url = typeof target === 'string' ? URL.parse(target) : target
    if (url === null) return
    const { origin, pathname } = url
    const apis = router.apisBeside(url).map(({ baseUrl }) => baseUrl)
    if (apis.length === 0 || reported.has(origin + pathname)) return
    reported.add(origin + pathname)
    emit?.({ type: 'route.missed', origin, path: pathname.slice(0, longestPath), apis })
  }
}
