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

/** How many properties Node's adapter of axios gives to a response: those that are copied here. */
const copied = 6

/**
 * Returns a response with a hidden request. A response of Node's adapter, which alone has seen it until now, is copied:
 * to make its property not enumerable takes 2.5 µs of a call by the profiler, and the copy takes 0.2 µs.
 */
export function withHiddenRequest(
  response: AxiosResponse,
  config: Config,
  { ofNodeAdapter }: { readonly ofNodeAdapter: boolean },
): AxiosResponse {
  if (ofNodeAdapter && config.responseType !== 'stream' && Object.keys(response).length === copied)
    return new ShownResponse(response)
  hideRequest(response, config)
  return response
}

/** A response with the request in a property of its class, where no printer looks. */
class ShownResponse implements AxiosResponse {
  status: number
  statusText: string
  headers: AxiosResponse['headers']
  config: AxiosResponse['config']
  data: unknown
  #request: unknown

  constructor({ status, statusText, headers, config, data, request }: AxiosResponse) {
    this.status = status
    this.statusText = statusText
    this.headers = headers
    this.config = config
    this.data = data
    this.#request = request
  }

  get request(): unknown {
    return this.#request
  }

  set request(request: unknown) {
    this.#request = request
  }
}

// printed like the plain object of axios
Object.defineProperty(ShownResponse.prototype, 'constructor', { value: Object })
