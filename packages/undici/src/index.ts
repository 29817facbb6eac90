import { mustBeManager, type TokenManager } from '@tokenlane/core/adapter'

import { addToGlobals } from './global-dispatcher.ts'
import type { Dispatch } from './handler.ts'
import { managedDispatch } from './managed-dispatch.ts'

/** An interceptor for `compose` of undici 7 and 8. */
export type TokensInterceptor = <Options, Handler>(
  dispatch: (options: Options, handler: Handler) => boolean,
) => (options: Options, handler: Handler) => boolean

/**
 * Makes an undici dispatcher send a live token with each request to one of the manager's APIs. Every other request is
 * sent unchanged, as is any request that has its own `Authorization` header or changes the protocol.
 *
 * A request fails as it would with undici alone, or with a TokenlaneError if no token can be obtained. After a
 * TokenlaneError, nothing more is sent.
 *
 * @throws TokenlaneError `INVALID_OPTIONS` at once for a wrong argument.
 * @example
 * ```ts
 * const dispatcher = new Agent().compose(tokensInterceptor(tokens))
 * const { body } = await request('https://api.example.com/records', { dispatcher })
 * ```
 */
export function tokensInterceptor(tokens: TokenManager): TokensInterceptor {
  mustBeManager(tokens, 'create tokens interceptor')
  return ((dispatch: Dispatch) => managedDispatch(dispatch, tokens)) as TokensInterceptor
}

/**
 * Makes the global dispatcher send a live token with each request to one of the manager's APIs. This covers Node's own
 * `fetch`, and every library that uses it, or that uses undici without a dispatcher of its own. Every other request is
 * sent unchanged. Installing the same manager again changes nothing.
 *
 * @returns `uninstall`, which removes the tokens.
 * @throws TokenlaneError `INVALID_OPTIONS` at once for a wrong argument, and in a runtime without such a dispatcher.
 * @example
 * ```ts
 * const uninstall = installTokens(tokens)
 * const response = await fetch('https://api.example.com/records')
 * ```
 */
export function installTokens(tokens: TokenManager): () => void {
  mustBeManager(tokens, 'install tokens')
  return addToGlobals(tokens)
}
