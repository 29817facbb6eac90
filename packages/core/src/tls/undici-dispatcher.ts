/**
 * What can be told of undici's dispatchers, without undici: Node's `fetch` has its own copy, which nobody can import,
 * and a user's may be of another version. They keep the options they were made with under symbols.
 */
export type Dispatcher = Readonly<Record<symbol, unknown>> & { readonly dispatch?: unknown }

interface DispatcherOptions {
  readonly connect?: unknown
  readonly tls?: unknown
}

/** Where undici looks for the global dispatcher, up to version 7 and from version 8 on. */
const before8: symbol = Symbol.for('undici.globalDispatcher.1')
const from8: symbol = Symbol.for('undici.globalDispatcher.2')
/** Where the one that the runtime was built with looks; another one may be loaded beside it. */
const place = Number.parseInt(globalThis.process?.versions?.['undici'] ?? '', 10) >= 8 ? from8 : before8

const globalDispatchers = globalThis as unknown as Readonly<Record<symbol, Dispatcher | undefined>>

/** The dispatcher of the runtime's `fetch`; `setGlobalDispatcher` replaces it. */
export function globalDispatcher(): Dispatcher | undefined {
  // the first look at any of fetch's classes makes it
  return typeof globalThis.Response === 'function' ? globalDispatchers[place] : undefined
}

/** The TLS settings with which a dispatcher, and those that it is made of, connect; empty where none can be seen. */
export function tlsSettingsOf(dispatcher: Dispatcher | undefined, depth = 0): readonly unknown[] {
  if (typeof dispatcher !== 'object' || dispatcher === null || depth > 3) return []
  if (isGlobalWrapper(dispatcher)) return tlsSettingsOf(globalDispatchers[from8], depth + 1)
  const symbols = Object.getOwnPropertySymbols(dispatcher)
  // of a ProxyAgent: the TLS inside of the tunnel
  const tunnel = symbols.find(({ description }) => description === 'request tls settings')
  if (tunnel !== undefined) return [dispatcher[tunnel]]
  const options = optionsOf(dispatcher)
  if (options !== undefined) {
    const { connect, tls } = options
    // a function of the caller's connects as it likes
    return [typeof connect === 'function' ? {} : { ...(tls as object), ...(connect as object) }]
  }
  return symbols
    .filter(({ description }) => description?.endsWith('agent'))
    .flatMap((agent) => tlsSettingsOf(dispatcher[agent] as Dispatcher, depth + 1))
}

/** Another one like it, but for the TLS settings; `undefined` for one that cannot be imitated. */
export function likeDispatcher(dispatcher: Dispatcher | undefined, settings: object): Dispatcher | undefined {
  if (typeof dispatcher !== 'object' || dispatcher === null) return undefined
  const Same = dispatcher.constructor as new (options: object) => Dispatcher
  if (isGlobalWrapper(dispatcher)) {
    const wrapped = likeDispatcher(globalDispatchers[from8], settings)
    return wrapped && new Same(wrapped)
  }
  const options = optionsOf(dispatcher)
  // another class, or one with interceptors, does more than its options tell
  const isPlain = Same.name === 'Agent' && dispatcher.dispatch === (Same.prototype as Dispatcher).dispatch
  if (!isPlain || typeof options?.connect === 'function') return undefined
  return new Same({ ...options, connect: { ...(options?.connect as object), ...settings } })
}

function optionsOf(dispatcher: Dispatcher): DispatcherOptions | undefined {
  const symbol = Object.getOwnPropertySymbols(dispatcher).find(({ description }) => description === 'options')
  return symbol && (dispatcher[symbol] ?? {})
}

/** undici 8 replaces the dispatcher of an older one by its own in this wrapping, and shows it beside. */
function isGlobalWrapper(dispatcher: Dispatcher): boolean {
  return (
    dispatcher.constructor.name === 'Dispatcher1Wrapper' &&
    dispatcher === globalDispatchers[before8] &&
    dispatcher !== globalDispatchers[from8]
  )
}
