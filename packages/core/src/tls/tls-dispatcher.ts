import { processMustKeepFloor, refuseCall, type RefuseTls, settingsMustKeepFloor } from './tls-floor.ts'

/** A call of `fetch`, as far as its connection goes. */
export interface FetchCall {
  /** The URL of the call, or a part of it that has the scheme. Only `https:` is looked at. */
  readonly url: string
  /** The `dispatcher` that the caller gives. */
  readonly dispatcher?: unknown
  /** Whether a `fetch` of the caller's sends the call: then the global dispatcher may not be the one in use. */
  readonly ownFetch?: boolean | undefined
  readonly refuse?: RefuseTls | undefined
}

/**
 * undici's dispatchers keep the options that they were made with under symbols. Node's `fetch` has a copy of undici
 * that cannot be imported, and the caller's may be another version, so the symbols are found by their names.
 */
type Dispatcher = Readonly<Record<symbol, unknown>>

/** The global dispatcher that was last found to keep to TLS 1.2. */
let known: Dispatcher | undefined

/**
 * Throws for a call of `fetch` that would go below TLS 1.2: through the dispatcher that is given, else through the
 * global one, or because the process allows it. A dispatcher that shows no settings passes.
 *
 * @throws TokenlaneError `INSECURE_TRANSPORT`, naming the option and its setting.
 */
export function dispatcherMustKeepFloor({
  url,
  dispatcher,
  ownFetch = false,
  refuse = refuseCall,
}: FetchCall): void {
  if (!url.startsWith('https:')) return
  processMustKeepFloor(refuse)
  if (dispatcher !== undefined && dispatcher !== null) {
    for (const settings of settingsOf(dispatcher as Dispatcher))
      settingsMustKeepFloor(settings, 'dispatcher', refuse)
    return
  }
  const current = ownFetch ? undefined : globalDispatcher()
  if (current === undefined || current === known) return
  for (const settings of settingsOf(current)) settingsMustKeepFloor(settings, 'the global dispatcher', refuse)
  known = current
}

/** Where undici keeps the global dispatcher, up to version 7 and from version 8 on. */
const before8: symbol = Symbol.for('undici.globalDispatcher.1')
const from8: symbol = Symbol.for('undici.globalDispatcher.2')
/** Where the runtime's own copy looks; another version may be loaded beside it. */
const place = Number.parseInt(globalThis.process?.versions?.['undici'] ?? '', 10) >= 8 ? from8 : before8

const globalDispatchers = globalThis as unknown as Readonly<Record<symbol, Dispatcher | undefined>>

/** Returns the dispatcher of the runtime's `fetch`; `setGlobalDispatcher` replaces it. */
function globalDispatcher(): Dispatcher | undefined {
  // the first look at any of fetch's classes makes it
  return typeof globalThis.Response === 'function' ? globalDispatchers[place] : undefined
}

/**
 * Returns the TLS settings of a dispatcher, or of the global one: its own and those of the dispatchers that it is made
 * of. Empty where they cannot be seen. For tools.
 */
export function dispatcherSettings(dispatcher: unknown = globalDispatcher()): readonly unknown[] {
  return settingsOf(dispatcher as Dispatcher | undefined)
}

/** Returns the TLS settings of a dispatcher and of those that it is made of; none where they cannot be seen. */
function settingsOf(dispatcher: Dispatcher | undefined, depth = 0): readonly unknown[] {
  if (typeof dispatcher !== 'object' || dispatcher === null || depth > 3) return []
  // undici 8 puts a wrapping of its dispatcher in the place of older versions
  if (dispatcher.constructor.name === 'Dispatcher1Wrapper' && dispatcher === globalDispatchers[before8])
    return settingsOf(globalDispatchers[from8], depth + 1)
  const symbols = Object.getOwnPropertySymbols(dispatcher)
  const named = (name: string): symbol | undefined => symbols.find(({ description }) => description === name)
  // of a ProxyAgent: the TLS inside of the tunnel
  const tunnel = named('request tls settings')
  if (tunnel !== undefined) return [dispatcher[tunnel]]
  const options = named('options')
  if (options !== undefined) {
    const { connect, tls } = (dispatcher[options] ?? {}) as { connect?: unknown; tls?: unknown }
    // the application's own function connects, with settings that cannot be seen
    return typeof connect === 'function' ? [] : [{ ...(tls as object), ...(connect as object) }]
  }
  return symbols
    .filter(({ description }) => description?.endsWith('agent'))
    .flatMap((agent) => settingsOf(dispatcher[agent] as Dispatcher, depth + 1))
}
