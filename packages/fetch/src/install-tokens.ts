import { mustBeManager, refuseArgument, type TokenManager } from '@tokenlane/core/adapter'

import { asFetch, createFetch } from './create-fetch.ts'

type Fetch = typeof globalThis.fetch

/** A global `fetch` with tokens, and the one that it stands for. */
interface Installed {
  readonly tokens: TokenManager
  readonly before: Fetch
  readonly uninstall: () => void
  isActive: boolean
}

const installed = new WeakMap<Fetch, Installed>()

/**
 * Makes the global `fetch` send a live token with each call to one of the manager's APIs, for all code in the process that
 * calls `fetch` from now on. It is {@link createFetch} in the place of `globalThis.fetch`. Installing the same manager again
 * changes nothing.
 *
 * Code that took `fetch` before, as in `const { fetch } = globalThis`, keeps the old one. To be first, install in a file
 * that is loaded by `node --import`.
 *
 * @returns `uninstall`, which removes the tokens, also where other code has wrapped `fetch` meanwhile.
 * @throws TokenlaneError `INVALID_OPTIONS` at once for a wrong argument.
 * @example
 * ```ts
 * const uninstall = installTokens(tokens)
 * const response = await fetch('https://api.example.com/records')
 * ```
 */
export function installTokens(tokens: TokenManager): () => void {
  const purpose = 'install tokens'
  mustBeManager(tokens, purpose)
  const before = globalThis.fetch
  if (typeof before !== 'function') refuseArgument(purpose, 'globalThis.fetch', 'a function')
  const known = installed.get(before)
  if (known?.isActive === true && known.tokens === tokens) return known.uninstall

  const managed: Fetch = createFetch(tokens, { fetch: before })
  const fetch: Fetch = asFetch(before, (...call) => (entry.isActive ? managed : before)(...call))
  const entry: Installed = {
    tokens,
    before,
    isActive: true,
    uninstall() {
      entry.isActive = false
      if (globalThis.fetch === fetch) globalThis.fetch = activeOf(before)
    },
  }
  installed.set(fetch, entry)
  globalThis.fetch = fetch
  return entry.uninstall
}

/** Returns a `fetch` without those that were uninstalled while another one stood on them. */
function activeOf(fetch: Fetch): Fetch {
  const entry = installed.get(fetch)
  return entry?.isActive === false ? activeOf(entry.before) : fetch
}
