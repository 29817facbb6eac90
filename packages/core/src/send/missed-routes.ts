import type { Emit } from '../events.ts'
import { isLoopback } from '../options/urls.ts'

/** Missed places that are reported at most: a process may call any number of them. */
const mostReported = 100

export const shownPath = ({ pathname }: URL): string => pathname.slice(0, 200)

/**
 * Reports URLs that look like an API's and are not. One on the API's origin is an event, once for each path: an origin may
 * well have paths without tokens. One with another scheme, port or name of this machine is a mistake, so it is a warning,
 * once for each origin.
 */
export class MissedRoutes {
  readonly #apis: readonly URL[]
  readonly #emit: Emit
  readonly #seen = new Set<string>()

  constructor(baseUrls: readonly string[], emit: Emit) {
    this.#apis = baseUrls.map((baseUrl) => new URL(baseUrl))
    this.#emit = emit
  }

  report(url: URL): void {
    const { origin, pathname, href, protocol } = url
    const missed = origin + pathname
    if (!/^https?:$/.test(protocol)) return
    // a URL with a user name is not on the origin
    if (this.#seen.has(origin) || !href.startsWith(missed)) return
    const onOrigin = this.#apis.filter((api) => api.origin === origin)
    const isOnOrigin = onOrigin.length > 0
    if (isOnOrigin && !this.#emit.isObserved) return
    const place = isOnOrigin ? missed : origin
    if (this.#seen.has(place) || this.#seen.size >= mostReported) return
    this.#seen.add(place)
    const differs = isOnOrigin ? undefined : this.#nearest(url)
    if (!isOnOrigin && differs === undefined) return
    const apis = (differs?.apis ?? onOrigin).map((api) => api.href)
    const path = shownPath(url)
    this.#emit({ type: 'route.missed', origin, path, apis, ...(differs && { by: differs.by }) })
  }

  /** Returns the APIs that a URL seems to mean, and in what it differs from them. */
  #nearest({ protocol, hostname, port }: URL) {
    const isLocal = isLoopback(hostname)
    // a server of this machine on another port is another server
    const like = (fits: (api: URL) => boolean) =>
      this.#apis.filter((api) => (!isLocal || api.port === port) && fits(api))
    const apis = like((api) => api.hostname === hostname)
    if (apis.length > 0)
      return { apis, by: apis.some((api) => api.protocol === protocol) ? 'port' : 'scheme' } as const
    const aliases = isLocal ? like((api) => isLoopback(api.hostname)) : []
    return aliases.length > 0 ? ({ apis: aliases, by: 'host' } as const) : undefined
  }
}
