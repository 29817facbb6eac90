// A response or an error of axios leads to its request, which leads to the agent, its sockets and so to other requests
// that are under way with a token. Readers of `request` still get it; printers that walk enumerable properties do not.
import type { AxiosResponse, InternalAxiosRequestConfig } from 'axios'

import type { Via } from './via.ts'

type Config = InternalAxiosRequestConfig

/** How many properties axios' own adapters give a response. */
const known = 6

/**
 * Returns the response with its `request` hidden. Of axios' own adapters, that is a copy: to change the attributes of a
 * property costs a call 4 µs more than to define it so, and to copy what is not named 2 µs.
 */
export function withRequestHidden(response: AxiosResponse, given: Config, via: Via): AxiosResponse {
  if (via === 'other' || given.responseType === 'stream' || Object.keys(response).length > known) {
    hideRequest(response, given)
    return response
  }
  const { status, statusText, headers, config, data } = response
  const request: PropertyDescriptor = { value: response.request, writable: true, configurable: true }
  return Object.defineProperty(
    { status, statusText, headers, config, data } as AxiosResponse,
    'request',
    request,
  )
}

/** Makes `request`, and what leads to it from a streamed body, not enumerable. Safe to call for anything. */
export function hideRequest(holder: unknown, { responseType }: Config): void {
  hide(holder, 'request')
  const { data } = (holder ?? {}) as Partial<AxiosResponse>
  if (responseType === 'stream') for (const name of ['req', 'socket', 'client']) hide(data, name)
}

function hide(holder: unknown, name: string): void {
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name)) return
  Object.defineProperty(holder, name, { enumerable: false })
}
