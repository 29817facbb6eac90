import type { DispatchOptions } from './handler.ts'

/** A segment that a URL parser takes away, or a character that it takes for a slash. */
const mistakable = /\\|(?:^|\/)(?:\.|%2e){1,2}(?=\/|$)/i

/** Where a request goes: undici connects to the origin, and sends the path as it is. */
export interface Target {
  readonly url: URL
  /** The path to send: one that servers and proxies cannot read otherwise than the router. */
  readonly path: string
}

/** Returns where a request goes, `undefined` for one that undici refuses, or that goes through a proxy. */
export function targetOf({ origin, path }: DispatchOptions): Target | undefined {
  const base = origin === undefined || origin === null ? null : URL.parse(String(origin))
  if (base === null || typeof path !== 'string' || !path.startsWith('/')) return undefined
  // not resolved against the origin: `//host/` would be another one
  const url = URL.parse(base.origin + path)
  if (url === null || url.origin !== base.origin) return undefined
  const [beforeQuery = ''] = path.split('?', 1)
  return { url, path: mistakable.test(beforeQuery) ? url.pathname + url.search : path }
}
