import type { TokenManager } from '@tokenlane/core/adapter'

import { isNew, isOld, type AnyHandler, type Dispatch, type DispatchOptions } from './handler.ts'
import { copyOf, hasAuthorization } from './headers.ts'
import { ManagedCall } from './managed-call.ts'
import { FromOld, ToOld } from './old-handler.ts'
import { Redirects } from './redirects.ts'
import { targetOf } from './request-target.ts'

/** Returns a `dispatch` that sends every request to an API with a live token, and every other one as it is. */
export function managedDispatch(dispatch: Dispatch, tokens: TokenManager): Dispatch {
  const redirects = new Redirects()

  // undici asks for a function of two parameters
  return (options: DispatchOptions, handler: AnyHandler) => {
    const target = isRequest(options) && (isNew(handler) || isOld(handler)) ? targetOf(options) : undefined
    if (target === undefined) return dispatch(options, handler)
    const { url, path } = target
    const found = tokens.route(url)
    const sent = { options, handler, url, api: found }
    const { api, pass } = redirects.follow(sent)
    const headers = api && copyOf(options.headers)
    if (api === undefined || hasAuthorization(headers)) {
      redirects.watch(sent)
      return dispatch(api ? { ...options, headers } : options, handler)
    }
    const isInOldWords = isOld(handler)
    const call = new ManagedCall(
      { ...options, path, headers },
      {
        api,
        handler: isInOldWords ? new FromOld(handler) : handler,
        send: isInOldWords ? (attempt, own) => dispatch(attempt, new ToOld(own)) : dispatch,
        keepPass: (...response) => redirects.expect({ ...sent, api }, ...response),
      },
    )
    return call.begin(pass)
  }
}

/** Whether these are options of a request, and not of a tunnel or another protocol. */
function isRequest(options: DispatchOptions | null | undefined): options is DispatchOptions {
  return typeof options === 'object' && options !== null && !options.upgrade && options.method !== 'CONNECT'
}
