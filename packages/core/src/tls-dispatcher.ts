import {
  lowestTls,
  namesFloor,
  processFloor,
  type RefuseTls,
  refuseCall,
  refuseOpen,
  weakness,
} from './tls-floor.ts'

/** A call of `fetch`, as far as its connection goes. */
export interface FetchCall {
  /** Where it goes. Only `https:` matters. */
  readonly url: string
  /** What the caller gives. */
  readonly dispatcher?: unknown
  /** Whether the caller's own `fetch` sends it, and not the runtime's. */
  readonly ownFetch?: boolean | undefined
  readonly refuse?: RefuseTls | undefined
}

/** What counts of undici's dispatchers, which keep the options they were made with under symbols. */
type Dispatcher = Readonly<Record<symbol, unknown>> & { readonly dispatch?: unknown }

interface DispatcherOptions {
  readonly connect?: unknown
  readonly tls?: unknown
}

/** Where undici looks for the global dispatcher, up to version 7 and from version 8 on. */
const before8: symbol = Symbol.for('undici.globalDispatcher.1')
const from8: symbol = Symbol.for('undici.globalDispatcher.2')
/** Where the one that the runtime was built with looks; another one may be loaded beside it. */
const place = Number.parseInt(globalThis.process?.versions?.['undici'] ?? '', 10) >= 8 ? from8 : before8

const globalOption = 'the global dispatcher'
const setting = `connect: { minVersion: '${lowestTls}' }`

/**
 * Chooses the `dispatcher` to add to a call of `fetch`: none, but where none is given and the global one would go
 * below TLS 1.2 because the process does, one that is made once.
 *
 * Choosing throws TokenlaneError `INSECURE_TRANSPORT` for a dispatcher that is seen to allow TLS 1.0 or 1.1, given or
 * global. A `fetch` of the caller's own, which may use another, gets the one that is made in place of such a global
 * one.
 */
export function secureDispatchers(): (call: FetchCall) => unknown {
  let fine: Dispatcher | undefined
  let made: { readonly after: Dispatcher | undefined; readonly dispatcher: unknown } | undefined

  return ({ url, dispatcher: given, ownFetch = false, refuse = refuseCall }) => {
    if (!url.startsWith('https:')) return undefined
    if (given !== undefined && given !== null) {
      mustKeepFloor(given as Dispatcher, 'dispatcher', refuse)
      if (isOpen(given as Dispatcher)) refuseOpen('dispatcher', setting, refuse)
      return undefined
    }
    const current = globalDispatcher()
    // nearly always
    if (current === fine && processFloor() === undefined) return undefined
    if (!ownFetch) mustKeepFloor(current, globalOption, refuse)
    if (!isOpen(current) && weaknessOf(current) === undefined) {
      fine = current
      return undefined
    }
    if (made === undefined || made.after !== current)
      made = { after: current, dispatcher: makeDispatcher(current, refuse) }
    return made.dispatcher
  }
}

/** The same `fetch`, with this dispatcher if there is one. */
export function withDispatcher(fetch: typeof globalThis.fetch, dispatcher: unknown): typeof globalThis.fetch {
  if (dispatcher === undefined) return fetch
  return (input, init) => fetch(input, { ...init, dispatcher } as RequestInit)
}

function mustKeepFloor(dispatcher: Dispatcher | undefined, option: string, refuse: RefuseTls): void {
  const weak = weaknessOf(dispatcher)
  if (weak !== undefined) refuse(`\`${option}\` has ${weak}; allowed: ${lowestTls} or later`)
}

function weaknessOf(dispatcher: Dispatcher | undefined): string | undefined {
  for (const settings of settingsOf(dispatcher)) {
    const weak = weakness(settings)
    if (weak !== undefined) return weak
  }
  return undefined
}

/** Whether the process decides the lowest version, and decides wrongly. */
function isOpen(dispatcher: Dispatcher | undefined): boolean {
  if (processFloor() === undefined) return false
  const settings = settingsOf(dispatcher)
  return settings.length === 0 || !settings.every(namesFloor)
}

/** With what the dispatcher, and those that it is made of, connect to APIs. */
function settingsOf(dispatcher: Dispatcher | undefined, depth = 0): readonly unknown[] {
  if (typeof dispatcher !== 'object' || dispatcher === null || depth > 3) return []
  if (isGlobalWrapper(dispatcher)) return settingsOf(globalDispatchers[from8], depth + 1)
  const symbols = Object.getOwnPropertySymbols(dispatcher)
  const named = (name: string): symbol | undefined => symbols.find(({ description }) => description === name)
  // of a ProxyAgent: the TLS inside of the tunnel
  const tunnel = named('request tls settings')
  if (tunnel !== undefined) return [dispatcher[tunnel]]
  const options = named('options')
  if (options !== undefined) {
    const { connect, tls } = (dispatcher[options] ?? {}) as DispatcherOptions
    // a function of the caller's connects as it likes
    return [typeof connect === 'function' ? {} : { ...(tls as object), ...(connect as object) }]
  }
  return symbols
    .filter(({ description }) => description?.endsWith('agent'))
    .flatMap((agent) => settingsOf(dispatcher[agent] as Dispatcher, depth + 1))
}

/** The dispatcher of the runtime's `fetch`; `setGlobalDispatcher` replaces it. */
function globalDispatcher(): Dispatcher | undefined {
  // the first look at any of fetch's classes makes it
  return typeof globalThis.Response === 'function' ? globalDispatchers[place] : undefined
}

const globalDispatchers = globalThis as unknown as Readonly<Record<symbol, Dispatcher | undefined>>

/** undici 8 replaces the dispatcher of an older one by its own in this wrapping, and shows it beside. */
function isGlobalWrapper(dispatcher: Dispatcher): boolean {
  return (
    dispatcher.constructor.name === 'Dispatcher1Wrapper' &&
    dispatcher === globalDispatchers[before8] &&
    dispatcher !== globalDispatchers[from8]
  )
}

/** The runtime's own `Agent` cannot be imported: another one is made after the global one, with the floor. */
function makeDispatcher(after: Dispatcher | undefined, refuse: RefuseTls): unknown {
  const Agent = after?.constructor as (new (options: object) => Dispatcher) | undefined
  if (Agent && after && isGlobalWrapper(after))
    return new Agent(makeDispatcher(globalDispatchers[from8], refuse) as Dispatcher)
  const symbol =
    after && Object.getOwnPropertySymbols(after).find(({ description }) => description === 'options')
  const options = symbol && (after[symbol] as DispatcherOptions)
  // another class, or one with interceptors, does more than its options tell
  const isPlain = Agent?.name === 'Agent' && after?.dispatch === (Agent.prototype as Dispatcher).dispatch
  if (Agent === undefined || !isPlain || typeof options?.connect === 'function') {
    mustKeepFloor(after, globalOption, refuse)
    return refuseOpen(globalOption, setting, refuse)
  }
  const connect = { ...(options?.connect as object), maxVersion: undefined, secureProtocol: undefined }
  return new Agent({ ...options, connect: { ...connect, minVersion: lowestTls } })
}
