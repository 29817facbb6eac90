import type { Api, TokenManager } from '@tokenlane/core/adapter'

import type { Dispatch, DispatchOptions, Handler } from './handler.ts'
import { copyOf, hasAuthorization } from './headers.ts'
import { ManagedCall } from './managed-call.ts'
import { Redirects } from './redirects.ts'
import { targetOf } from './request-target.ts'

/** Returns a `dispatch` that sends every request to an API with a live token, and every other one as it is. */
export function managedDispatch(dispatch: Dispatch, tokens: TokenManager): Dispatch {
  const redirects = new Redirects()

  // undici asks for a function of two parameters
  return (options: DispatchOptions, handler: Handler) => {
    const target = isRequest(options, handler) ? targetOf(options) : undefined
    if (target === undefined) return dispatch(options, handler)
    const { origin, url, path } = target
    const { api, pass, expect } = redirects.follow(url, tokens.route(url), options, handler)
    const headers = api && copyOf(options.headers)
    if (api === undefined) return dispatch(options, handler)
    if (hasAuthorization(headers)) return dispatch({ ...options, headers }, noting(api, handler))
    const sent = { ...options, origin, path, headers }
    return new ManagedCall(sent, { api, handler, dispatch, expect }).begin(pass)
  }
}

/** Returns the handler of a call that brings its own `Authorization`, and reports its status. */
function noting(api: Api, handler: Handler): Handler {
  return new Proxy(handler, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...given: readonly unknown[]): unknown => {
        if (name === 'onResponseStart') api.kept(given[1] as number)
        return Reflect.apply(value, target, given)
      }
    },
  })
}

/** Whether this is a request, and not a tunnel or another protocol. What is no handler is for undici to refuse. */
function isRequest(options?: DispatchOptions | null, handler?: Handler | null): boolean {
  if (typeof options !== 'object' || options === null || options.upgrade) return false
  return options.method !== 'CONNECT' && typeof handler?.onRequestStart === 'function'
}
