import type { Emit } from '../events.ts'
import { builtinModule } from '../runtime/builtin-module.ts'
import { isRequestBound } from '../runtime/request-bound.ts'
import { withoutEffect } from '../runtime/without-effect.ts'
import { shownPath } from './missed-routes.ts'
import { isBelow } from './router.ts'

/** A request on the channel of `node:http`. */
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

/**
 * Reports requests of this process that had no `Authorization` and got a 401: no adapter sees what is sent by a client
 * without tokens. For any other response only a status is compared.
 */
export class CallsWithoutToken {
  /** By the `baseUrl` of an API. Several tenants have the same API, and only the first of them reports. */
  readonly #emits = new Map<string, Set<Emit>>()
  readonly #told = new Set<string>()
  readonly #tokenEndpoints = new Set<string>()
  #held: WeakRef<CallsWithoutToken> | undefined
  #managers = 0

  /** Tells a manager from now on, until the function that is returned is called. The manager has to hold that. */
  join(apis: readonly string[], emit: Emit): () => void {
    // those publish no responses, and the old ones have no `WeakRef`
    if (isRequestBound() || isTool in globalThis) return () => {}
    for (const api of apis) this.#emits.set(api, (this.#emits.get(api) ?? new Set()).add(emit))
    this.#managers += 1
    const held = (this.#held ??= new WeakRef(this))
    listen(this, held)
    return () => {
      for (const api of apis) this.#leave(api, emit)
      this.#managers -= 1
      if (this.#managers === 0) end(held)
    }
  }

  #leave(api: string, emit: Emit): void {
    const emits = this.#emits.get(api)
    emits?.delete(emit)
    if (emits?.size === 0) this.#emits.delete(api)
  }

  /** Notes where tokens are requested: a 401 to that is about a client's secret. */
  exclude(place: string): void {
    this.#tokenEndpoints.add(place)
  }

  excludes(place: string): boolean {
    return this.#tokenEndpoints.has(place)
  }

  refused(url: URL): void {
    let api = ''
    for (const baseUrl of this.#emits.keys())
      if (baseUrl.length > api.length && isBelow(baseUrl, url.href)) api = baseUrl
    if (api === '') return this.#besideApis(url)
    const [emit] = this.#emits.get(api) ?? []
    if (emit === undefined || this.#told.has(api)) return
    this.#told.add(api)
    emit({ type: 'client.unattached', api })
  }

  /** Warns of a refused path beside the APIs of its origin; observers hear of every such path from the router. */
  #besideApis(url: URL): void {
    const { origin } = url
    const apis = Array.from(this.#emits.keys()).filter((api) => api.startsWith(`${origin}/`))
    const [emit] = this.#emits.get(apis[0] ?? '') ?? []
    if (emit?.isObserved === false) emit({ type: 'route.missed', origin, path: shownPath(url), apis })
  }
}

/** Where Node's clients publish every response of the process. */
const channels = ['http.client.response.finish', 'undici:request:headers']

/** Held weakly: an application may drop managers without closing them. */
const listeners = new Set<WeakRef<CallsWithoutToken>>()
let dropped: FinalizationRegistry<WeakRef<CallsWithoutToken>> | undefined

function listen(listener: CallsWithoutToken, held: WeakRef<CallsWithoutToken>): void {
  if (listeners.has(held)) return
  dropped ??= new FinalizationRegistry(end)
  dropped.register(listener, held)
  listeners.add(held)
  if (listeners.size === 1) eachChannel('subscribe')
}

function end(held: WeakRef<CallsWithoutToken>): void {
  if (listeners.delete(held) && listeners.size === 0) eachChannel('unsubscribe')
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
  const place = url.origin + url.pathname
  const all = Array.from(listeners, (held) => held.deref())
  if (all.some((listener) => listener?.excludes(place))) return
  for (const listener of all) listener?.refused(url)
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
