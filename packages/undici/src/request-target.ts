import type { DispatchOptions } from './handler.ts'

/** A segment that a URL parser takes away, or a character that it takes for a slash. */
const mistakable = /^[^?]*?(?:\\|\/(?:\.|%2e){1,2}(?=[/?]|$))/i
/** One that every URL parser leaves as it is, or whose host the router has parsed. */
const plainOrigin = /^https?:\/\/[\w.-]+(?::\d+)?$/

/** Where a request goes: undici connects to the origin, and sends the path as it is. */
export interface Target {
  /** As text: the caller may change a URL object while the call waits. */
  readonly origin: string
  /** As text: most need no parser, which takes longer than the rest of a call's way. */
  readonly url: string
  /** The path to send: one that servers and proxies cannot read otherwise than the router. */
  readonly path: string
}

/** Returns where a request goes, `undefined` for one that undici refuses, or that goes through a proxy. */
export function targetOf({ origin: given, path }: DispatchOptions): Target | undefined {
  if (typeof path !== 'string' || !path.startsWith('/')) return undefined
  const text = String(given)
  // the path is not resolved against it: `//host/` would be another one
  const origin = plainOrigin.test(text) ? text : URL.parse(text)?.origin
  if (origin === undefined) return undefined
  if (!mistakable.test(path)) return { origin, url: origin + path, path }
  const url = URL.parse(origin + path)
  return url === null ? undefined : { origin, url: url.href, path: url.pathname + url.search }
}
