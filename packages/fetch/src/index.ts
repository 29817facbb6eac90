import {
  dispatcherMustKeepFloor,
  followWithinApi,
  isRedirect,
  managerOf,
  markManaged,
  mustBeManager,
  refuseArgument,
  ResponseExchange,
  type TokenManager,
} from '@tokenlane/core/adapter'

export type { TokenlaneRequestInit } from './call.ts'
import { Call, urlOf, type TokenlaneRequestInit } from './call.ts'
import { withToken } from './fields.ts'

/** Configures `createFetch`. */
export interface CreateFetchOptions {
  /**
   * Sends the calls.
   *
   * @defaultValue the runtime's `fetch`, as it is at each call
   */
  readonly fetch?: typeof globalThis.fetch | undefined
}

const purpose = 'create fetch'

/** `fetch`, and with `tokenlane` in its `init` how a call wants to be treated. */
export type TokenlaneFetch = (
  input: Parameters<typeof globalThis.fetch>[0],
  init?: TokenlaneRequestInit,
) => Promise<Response>

/**
 * A `fetch` that sends each call to one of the manager's APIs with a live token. Every other call, and one that
 * brings its own `Authorization` field, goes to the underlying `fetch` as it is.
 *
 * @throws TokenlaneError `INVALID_OPTIONS` at once for a wrong argument. A call rejects as it would with the
 * underlying `fetch`, or with a TokenlaneError if no token can be had: then nothing was sent.
 * @example
 * ```ts
 * const fetch = createFetch(tokens)
 * const response = await fetch('https://api.example.com/records')
 * ```
 */
export function createFetch(tokens: TokenManager, options: CreateFetchOptions = {}): TokenlaneFetch {
  mustBeManager(tokens, purpose)
  if (typeof options !== 'object' || options === null)
    refuseArgument(purpose, 'options', 'an object with fetch')
  const given = options.fetch
  if (given !== undefined && typeof given !== 'function')
    refuseArgument(purpose, 'options.fetch', 'a fetch function')
  const atStart = given ?? globalThis.fetch
  if (managerOf(atStart) === tokens) return atStart

  const base = (): typeof globalThis.fetch => {
    if (given !== undefined) return given
    // once a managed fetch stands in for the global one, looking there would lead back to it
    return managerOf(globalThis.fetch) === undefined ? globalThis.fetch : atStart
  }

  const ownFetch = given !== undefined
  const managed: TokenlaneFetch = async (input, init) => {
    const fetch = base()
    const url = urlOf(input)
    const api = tokens.route(url)
    if (api === undefined) return fetch(input, init)
    const { baseUrl } = api
    const call = new Call(input, init, { url, baseUrl, ownFetch })
    if (call.hasOwnAuthorization) return fetch(input, init)
    dispatcherMustKeepFloor({ url: baseUrl, dispatcher: call.dispatcher, ownFetch })
    const closeMayGoOn = api.keepOpen()
    try {
      const response = await api.send((token) => ResponseExchange.of(call.send(fetch, token)), call)
      if (!call.followsRedirects || !isRedirect(response)) return response
      return await followWithinApi(response, {
        call,
        api,
        tokens,
        options: call,
        prepare: async (hop) => {
          const asked = await call.initFor(hop)
          const { href } = hop.url
          return (token) => {
            const headers = token === undefined ? hop.headers : withToken(hop.headers, token)
            return fetch(href, { ...asked, headers })
          }
        },
      })
    } finally {
      call.end()
      closeMayGoOn()
    }
  }
  return markManaged(managed, tokens)
}
