import { builtinModule } from '../runtime/builtin-module.ts'
import { isRequestBound } from '../runtime/request-bound.ts'
import { withoutEffect } from '../runtime/without-effect.ts'

interface Watch {
  /** Returns whether the manager requests tokens at this URL: a 401 to that is about the client's secret. */
  asksAt(url: URL): boolean
  refused(url: URL): void
}

interface HttpRequest {
  readonly protocol: string
  readonly path: string
  getHeader(name: string): unknown
}

/** A request on the channel of undici. Its headers are names and values in turn. */
interface UndiciRequest {
  readonly origin: string | URL
  readonly path: string
  readonly headers: readonly unknown[]
}

interface Exchange {
  readonly request: HttpRequest | UndiciRequest
  readonly response: { readonly statusCode: number }
}

/**
 * Set, as a property of `globalThis`, by a tool that runs an application and sends requests of its own. A registered symbol,
 * since the application may have another copy of the package.
 */
export const isTool: unique symbol = Symbol.for('tokenlane.tool') as never

/** Where Node's clients publish every response of the process. */
const channels = ['http.client.response.finish', 'undici:request:headers']

/** Held weakly: an application may drop managers without closing them. */
const watches = new Set<WeakRef<Watch>>()
let dropped: FinalizationRegistry<WeakRef<Watch>> | undefined

/**
 * Reports this process's requests that got a 401 and had no `Authorization`: no adapter sees a client without tokens. For
 * any other response only the status is compared.
 *
 * @returns a function that ends it, which the manager has to hold for as long as it wants to hear.
 */
export function watchCallsWithoutToken(watch: Watch): () => void {
  // those have no such channels, and the old ones no `WeakRef`
  if (isRequestBound() || isTool in globalThis) return () => {}
  const held = new WeakRef(watch)
  dropped ??= new FinalizationRegistry(endWatch)
  dropped.register(watch, held, watch)
  watches.add(held)
  if (watches.size === 1) eachChannel('subscribe')
  return () => {
    dropped?.unregister(watch)
    endWatch(held)
  }
}

function endWatch(held: WeakRef<Watch>): void {
  if (watches.delete(held) && watches.size === 0) eachChannel('unsubscribe')
}

function eachChannel(act: 'subscribe' | 'unsubscribe'): void {
  const module = builtinModule('node:diagnostics_channel') as
    | Partial<typeof import('node:diagnostics_channel')>
    | undefined
  for (const channel of channels) module?.[act]?.(channel, onResponse)
}

function onResponse(message: unknown): void {
  const { request, response } = message as Exchange
  if (response.statusCode === 401) withoutEffect(() => tell(request))
}

function tell(request: Exchange['request']): void {
  const url = urlWithoutToken(request)
  if (url === null) return
  const all = Array.from(watches, (held) => held.deref())
  if (all.some((watch) => watch?.asksAt(url))) return
  for (const watch of all) watch?.refused(url)
}

/** Returns the URL of a request without an `Authorization`, or `null` for any other request. */
function urlWithoutToken(request: Exchange['request']): URL | null {
  if (!('getHeader' in request)) {
    const { origin, path, headers } = request
    const hasToken = headers.some((name, at) => at % 2 === 0 && /^authorization$/i.test(String(name)))
    return hasToken ? null : URL.parse(path, String(origin))
  }
  // headers that were given as a list are not to be seen, and `host` is missing with them
  const host = request.getHeader('host')
  if (typeof host !== 'string' || request.getHeader('authorization') !== undefined) return null
  return URL.parse(request.path, `${request.protocol}//${host}`)
}
