import {
  lowestTls,
  namesFloor,
  processFloor,
  type RefuseTls,
  refuseCall,
  refuseOpen,
  weakness,
} from './tls-floor.ts'
import { type Dispatcher, globalDispatcher, likeDispatcher, tlsSettingsOf } from './undici-dispatcher.ts'

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

/** In place of what may have been there. */
const onlyFloor = {
  minVersion: lowestTls,
  maxVersion: undefined,
  secureProtocol: undefined,
  secureContext: undefined,
}

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
  let made: { readonly after: Dispatcher | undefined; readonly dispatcher: Dispatcher } | undefined

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
  for (const settings of tlsSettingsOf(dispatcher)) {
    const weak = weakness(settings)
    if (weak !== undefined) return weak
  }
  return undefined
}

/** Whether the process decides the lowest version, and decides wrongly. */
function isOpen(dispatcher: Dispatcher | undefined): boolean {
  if (processFloor() === undefined) return false
  const settings = tlsSettingsOf(dispatcher)
  return settings.length === 0 || !settings.every(namesFloor)
}

/** Another one after the global one, with the floor. */
function makeDispatcher(after: Dispatcher | undefined, refuse: RefuseTls): Dispatcher {
  const dispatcher = likeDispatcher(after, onlyFloor)
  if (dispatcher !== undefined) return dispatcher
  mustKeepFloor(after, globalOption, refuse)
  return refuseOpen(globalOption, setting, refuse)
}
