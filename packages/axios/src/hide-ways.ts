// Responses and errors of axios lead to the request, which has the token: here they are made to print without it. Node ignores
// `inspect.custom` when it prints an uncaught error, but shows no value behind a getter.
import { hideRequest } from '@tokenlane/core/adapter'
import type { AxiosResponse } from 'axios'

/** Hides the request that a response or an error names. */
export function hideRequestOf(holder: Partial<AxiosResponse> | undefined): void {
  const request: { readonly ['_redirectable']?: unknown } | undefined = holder?.request
  hideRequest(request)
  // of follow-redirects, to which a body leads that was piped
  hideRequest(request?.['_redirectable'])
  putBehindGetter(holder, 'request')
}

/** Hides what else leads from an error to requests: agents with those of other calls, and an unread stream. */
export function hideOtherWays(error: Partial<AxiosResponse> & { readonly response?: AxiosResponse }): void {
  for (const name of ['httpAgent', 'httpsAgent']) putBehindGetter(error.config, name)
  const data: unknown = error.response?.data
  if (typeof (data as { pipe?: unknown } | undefined)?.pipe !== 'function') return
  for (const name of ['req', 'socket', 'client']) putBehindGetter(data, name)
}

function putBehindGetter(holder: unknown, name: string): void {
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name)) return
  let value = (holder as Record<string, unknown>)[name]
  const accessors = { get: () => value, set: (given: unknown) => (value = given) }
  Reflect.defineProperty(holder, name, { ...accessors, enumerable: true, configurable: true })
}
