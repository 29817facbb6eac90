type Fetch = typeof globalThis.fetch

/**
 * Returns a `fetch` that caches nothing. A framework whose `fetch` caches would return an old token.
 *
 * @param fetch the `fetch` to send with; by default that of the runtime.
 */
export function uncached(fetch: Fetch = runtimeFetch()): (url: string, init: object) => Promise<Response> {
  return (url, init) => fetch(url, { ...init, ...noStore() })
}

/** The property of the `fetch` of Next.js that holds the `fetch` it replaced. */
const replaced = '_nextOriginalFetch'

/**
 * Returns the `fetch` of the runtime. Next.js replaces it by its own. That one caches in spite of `no-store` where
 * a route says `fetchCache = 'force-cache'`, and makes a static route that uses `no-store` dynamic.
 */
function runtimeFetch(): Fetch {
  const { fetch } = globalThis as { fetch: Fetch & { readonly [replaced]?: Fetch } }
  return fetch[replaced] ?? fetch
}

/** Returns no option in a runtime that throws for it, such as a worker with an old compatibility date. */
function noStore(): object {
  const option = { cache: 'no-store' }
  try {
    void new Request('https://issuer.example', option as RequestInit)
    return option
  } catch {
    return {}
  }
}
