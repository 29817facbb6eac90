import { builtinModule } from './builtin-module.ts'

/**
 * Whether this runtime ends timers, requests and waits together with the incoming request that began them, as
 * Cloudflare Workers do. There a call waits by timers of its own: what another incoming request would wake it with may
 * never come.
 */
export function isRequestBound(): boolean {
  // Cloudflare Workers have the first, of every compatibility date; Vercel and the edge runtime of Next.js the second
  return 'WebSocketPair' in globalThis || 'EdgeRuntime' in globalThis
}

interface RequestContext {
  waitUntil?(work: Promise<unknown>): void
}

/** Where Vercel's runtime, and what is compatible with it, keeps the context of the present incoming request. */
const vercel: symbol = Symbol.for('@vercel/request-context')

/** Returns what keeps the present incoming request going beyond its response; `undefined` where nothing can. */
export function requestKeeper(): ((work: Promise<unknown>) => void) | undefined {
  const { [vercel]: contexts } = globalThis as { [vercel]?: { get?(): RequestContext | undefined } }
  const context = (builtinModule('cloudflare:workers') as RequestContext | undefined) ?? contexts?.get?.()
  return context?.waitUntil?.bind(context)
}

/** Keeps the present incoming request going until `work` has ended, where that is needed and can be done. */
export function outliveRequest<T>(work: Promise<T>): Promise<T> {
  if (isRequestBound()) requestKeeper()?.(work.catch(() => {}))
  return work
}
