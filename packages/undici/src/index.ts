import { mustBeManager, TokenlaneError, type TokenManager } from '@tokenlane/core/adapter'

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

/** @deprecated It is in @tokenlane/fetch; here, it throws. */
export function installTokens(_tokens?: unknown): never {
  throw new TokenlaneError(
    'INVALID_OPTIONS',
    "Cannot install tokens: `installTokens` is in @tokenlane/fetch. Run `npm install @tokenlane/fetch`, and import it from '@tokenlane/fetch'",
  )
}
