import type { TokenManager } from '@tokenlane/core/adapter'

import type { Dispatch, DispatchOptions, Handler } from './handler.ts'
import { hasAuthorization } from './header-fields.ts'
import { ManagedCall } from './managed-call.ts'
import { Redirects, WatchedHandler } from './redirects.ts'
import { targetOf } from './request-target.ts'

/** What stands between callers and a dispatcher. */
export interface Between {
  readonly tokens: TokenManager
  /** Throws for a dispatcher that must not carry the token. */
  readonly mustBeSecure: (url: string) => void
}

/**
 * Returns a `dispatch` that sends every request to an API with a live token. The next hop of a redirect has one if the
 * request before it had one of the same API.
 */
export function managedDispatch(dispatch: Dispatch, { tokens, mustBeSecure }: Between): Dispatch {
  const redirects = new Redirects()

  // undici asks for a function of two parameters
  return (options: DispatchOptions, handler: Handler) => {
    const target = isRequest(options) ? targetOf(options) : undefined
    if (target === undefined) return dispatch(options, handler)
    const { url, path } = target
    const redirect = redirects.take(url)
    const found = hasAuthorization(options.headers) ? undefined : tokens.route(url)
    const api = redirect === undefined || redirect.api === found ? found : undefined
    const watched = new WatchedHandler(handler, { redirects, url, api })
    if (api === undefined) return dispatch(options, watched)
    const call = new ManagedCall(options, {
      api,
      path,
      dispatch,
      mustBeSecure,
      handler: watched,
      sentBefore: redirect !== undefined,
    })
    void call.begin()
    return true
  }
}

/** Whether these are options of a request, and not of a tunnel or another protocol. */
export function isRequest(options: DispatchOptions | null | undefined): options is DispatchOptions {
  return typeof options === 'object' && options !== null && !options.upgrade && options.method !== 'CONNECT'
}
