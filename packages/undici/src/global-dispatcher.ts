import { TokenlaneError, type TokenManager } from '@tokenlane/core/adapter'

import { dispatcherWith, type Dispatcher } from './dispatcher-proxy.ts'
import { isNew, type Dispatch } from './handler.ts'
import { managedDispatch } from './managed-dispatch.ts'
import { ToOld } from './old-handler.ts'

/** Where undici up to version 7 looks for the global dispatcher, and so the `fetch` of Node 22 and 24. */
const upTo7: symbol = Symbol.for('undici.globalDispatcher.1')
/** Where undici 8 looks, and so the `fetch` of Node 26. It keeps one for the older versions in their place. */
const from8: symbol = Symbol.for('undici.globalDispatcher.2')

const globals = globalThis as unknown as Record<symbol, Dispatcher | undefined>

/** A global dispatcher with tokens, and the one that it stands for. */
interface Installed {
  readonly tokens: TokenManager
  readonly dispatcher: Dispatcher
  isActive: boolean
}

const installed = new WeakMap<Dispatcher, Installed>()

/** Gives tokens to the global dispatchers of Node and of every undici, and returns what takes them off again. */
export function addToGlobals(tokens: TokenManager): () => void {
  // the first look at any of fetch's classes makes the dispatcher
  void globalThis.Response
  const first = globals[upTo7]
  if (first === undefined)
    throw new TokenlaneError(
      'INVALID_OPTIONS',
      "Cannot install tokens: this runtime's `fetch` does not use undici's global dispatcher. Use `createFetch` from " +
        '@tokenlane/fetch',
    )
  // without it, undici 8 would replace both when it is imported later
  globals[from8] ??= forUndici8(first)
  const entries = [upTo7, from8].map((place) => add(place, tokens))
  return () => {
    for (const { place, managed, entry } of entries) {
      entry.isActive = false
      if (globals[place] === managed) globals[place] = entry.dispatcher
    }
  }
}

function add(place: symbol, tokens: TokenManager): { place: symbol; managed: Dispatcher; entry: Installed } {
  const current = globals[place] as Dispatcher
  const known = installed.get(current)
  if (known?.tokens === tokens) return { place, managed: current, entry: known }
  const entry = { tokens, dispatcher: current, isActive: true }
  const managed = withTokens(entry)
  installed.set(managed, entry)
  globals[place] = managed
  return { place, managed, entry }
}

function withTokens(entry: Installed): Dispatcher {
  const { dispatcher, tokens } = entry
  const alone: Dispatch = (options, handler) => dispatcher.dispatch(options, handler)
  const send = managedDispatch(alone, tokens)
  return dispatcherWith(dispatcher, (...call) => (entry.isActive ? send : alone)(...call))
}

/** Node 22 has no dispatcher for undici 8: its own one is of undici 6, and takes handlers in the old words alone. */
function forUndici8(dispatcher: Dispatcher): Dispatcher {
  return dispatcherWith(dispatcher, (options, handler) =>
    dispatcher.dispatch(options, isNew(handler) ? new ToOld(handler) : handler),
  )
}
