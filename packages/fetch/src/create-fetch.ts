import {
  managerOf,
  markManaged,
  mustBeManager,
  mustKeepFloor,
  refuseArgument,
  sendWithinApi,
  urlOf,
  type Api,
  type TokenManager,
} from '@tokenlane/core/adapter'

import { Call } from './call.ts'
import type { TokenlaneRequestInit } from './given-init.ts'
import { isRequest, requestCall } from './given-request.ts'
import { globalFetch } from './global-fetch.ts'

type Fetch = typeof globalThis.fetch
/** As many as there are: the mock of a test may ask for exactly these. */
type Asked = Parameters<Fetch>

/** Configures `createFetch`. */
export interface CreateFetchOptions {
  /**
   * Sends the calls.
   *
   * @defaultValue the global `fetch`, as it is at each call
   */
  readonly fetch?: Fetch | undefined
}

/** Configures `createFetch` with another package's `fetch`, such as undici's, which has its own types. */
export interface ForeignFetchOptions {
  /** Sends the calls. */
  readonly fetch: (input: never, init?: never) => Promise<object>
}

/** The runtime's `fetch`, whose `init` also takes `tokenlane`: how Tokenlane treats the call. */
export type TokenlaneFetch = Fetch &
  ((input: Parameters<Fetch>[0], init?: TokenlaneRequestInit) => Promise<Response>)

const purpose = 'create fetch'

/**
 * Returns a `fetch` that sends a live token with each call to one of the manager's APIs. Every other call, and one that
 * has its own `Authorization` header, goes to the underlying `fetch` unchanged.
 *
 * A call rejects as it would with the underlying `fetch`, or with a TokenlaneError if no token can be obtained. After a
 * TokenlaneError, nothing more is sent.
 *
 * @throws TokenlaneError `INVALID_OPTIONS` at once for a wrong argument.
 * @example
 * ```ts
 * const fetch = createFetch(tokens)
 * const response = await fetch('https://api.example.com/records')
 * ```
 */
export function createFetch(tokens: TokenManager, options?: CreateFetchOptions): TokenlaneFetch
export function createFetch(tokens: TokenManager, options: ForeignFetchOptions): TokenlaneFetch
export function createFetch(
  tokens: TokenManager,
  options: CreateFetchOptions | ForeignFetchOptions = {},
): TokenlaneFetch {
  mustBeManager(tokens, purpose)
  if (typeof options !== 'object' || options === null)
    refuseArgument(purpose, 'options', 'an object with fetch')
  const given = Object.hasOwn(options, 'fetch') ? (options.fetch as Fetch | undefined) : undefined
  if (given !== undefined && typeof given !== 'function')
    refuseArgument(purpose, 'options.fetch', 'a fetch function')
  const underlying = given ?? globalThis.fetch
  if (managerOf(underlying) === tokens) return underlying

  const base: Fetch = given ?? globalFetch(() => fetch)
  // another package's `fetch` may take what the runtime's refuses
  const isForeign = given !== undefined && given !== globalThis.fetch
  const route = (url: URL) => tokens.route(url)
  /** Sends a call that brings its own `Authorization`. */
  const bare = async (api: Api, asked: Asked): Promise<Response> => {
    const response = await base(...asked)
    api.kept(response.status)
    return response
  }
  const send = (asked: Asked): Promise<Response> => {
    const [input, init] = asked
    const url = isRequest(input) ? urlOf(input) : String(input)
    const api = tokens.route(url)
    if (api === undefined) return base(...asked)
    if (isRequest(input) || isRequest(init)) {
      const call = requestCall(input, init)
      if (call === undefined) return bare(api, asked)
      mustKeepFloor(api.baseUrl)
      return sendWithinApi(call, { api, route, fetch: base })
    }
    // text that every parser reads as leading to the API, as the router has read it
    const plain = url.startsWith(api.baseUrl) ? url : new URL(url).href
    const call = new Call(plain, init ?? {}, isForeign)
    if (call.hasOwnAuthorization) return bare(api, asked)
    mustKeepFloor(api.baseUrl)
    return sendWithinApi(call, { api, route, fetch: base })
  }
  const fetch = asFetch(underlying, (...asked) => {
    // not an async function: a promise more, and three turns of promises until it is settled
    try {
      return send(asked)
    } catch (reason) {
      return Promise.reject(reason)
    }
  })
  return markManaged(fetch, tokens)
}

/** Makes a function look like the `fetch` that it stands for. Bun's has a method of its own. */
export function asFetch(
  fetch: Fetch & { readonly preconnect?: (...asked: never[]) => unknown },
  work: (...call: Parameters<Fetch>) => Promise<Response>,
): TokenlaneFetch {
  Object.defineProperty(work, 'name', { value: 'fetch', configurable: true })
  Object.defineProperty(work, 'length', { value: 1, configurable: true })
  return Object.assign(work, fetch.preconnect && { preconnect: fetch.preconnect }) as TokenlaneFetch
}
