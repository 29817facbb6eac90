type Fetch = typeof globalThis.fetch

/**
 * Returns a `fetch` that caches nothing, for requests whose response is new each time; a framework that caches would
 * serve yesterday's token.
 *
 * @param fetch the caller's; by default that of the runtime.
 */
export function uncached(fetch: Fetch = runtimeFetch()): (url: string, init: object) => Promise<Response> {
  return (url, init) => fetch(url, { ...init, ...noStore() })
}

/** Under this name the `fetch` of Next.js has the one that it replaced. */
const replaced = '_nextOriginalFetch'

/**
 * Returns the `fetch` of the runtime. Next.js puts its own in its place, which caches against `no-store` where a route
 * says `fetchCache = 'force-cache'`, and makes every static route dynamic that `no-store` is used in.
 */
function runtimeFetch(): Fetch {
  const { fetch } = globalThis as { fetch: Fetch & { readonly [replaced]?: Fetch } }
  return fetch[replaced] ?? fetch
}

/** Nothing where a runtime has no such option and throws, as workers with an old compatibility date do. */
function noStore(): object {
  const option = { cache: 'no-store' }
  try {
    void new Request('https://issuer.example', option as RequestInit)
    return option
  } catch {
    return {}
  }
}
