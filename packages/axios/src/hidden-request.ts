// A response or an error of axios leads to its request, which leads to the agent, its sockets and so to other requests
// that are under way with a token. Readers of `request` still get it; printers that walk enumerable properties do not.
import type { AxiosResponse, InternalAxiosRequestConfig } from 'axios'

type Config = InternalAxiosRequestConfig

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
