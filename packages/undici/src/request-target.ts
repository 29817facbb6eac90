import type { DispatchOptions } from './handler.ts'

/** A segment that a URL parser takes away, or a character that it takes for a slash. */
const mistakable = /^[^?]*?(?:\\|\/(?:\.|%2e){1,2}(?=[/?]|$))/i
/** One that every URL parser leaves as it is, or whose host the router has parsed. */
const plainOrigin = /^https?:\/\/[\w.-]+(?::\d+)?$/

/** Where a request goes: undici connects to the origin, and sends the path as it is. */
export interface Target {
  /** As text: most need no parser, which takes longer than the rest of a call's way. */
  readonly url: string
  /** The path to send: one that servers and proxies cannot read otherwise than the router. */
  readonly path: string
}

/** Returns where a request goes, `undefined` for one that undici refuses, or that goes through a proxy. */
export function targetOf({ origin, path }: DispatchOptions): Target | undefined {
  if (typeof path !== 'string' || !path.startsWith('/')) return undefined
  // the path is not resolved against it: `//host/` would be another one
  const base = plainOrigin.test(String(origin)) ? String(origin) : URL.parse(String(origin))?.origin
  if (base === undefined) return undefined
  if (!mistakable.test(path)) return { url: base + path, path }
  const url = URL.parse(base + path)
  return url === null ? undefined : { url: url.href, path: url.pathname + url.search }
}
