import {
  checkCallOptions,
  copyOfFields,
  hasAuthorization,
  isReplayable,
  managerOf,
  markManaged,
  mustBeManager,
  mustKeepFloor,
  outgoingRequest,
  refuseArgument,
  sendWithinApi,
  type OutgoingCall,
  type TokenManager,
} from '@tokenlane/core/adapter'

export type { TokenlaneRequestInit } from './call.ts'
import { Call, type TokenlaneRequestInit } from './call.ts'

type Fetch = typeof globalThis.fetch

/** Configures `createFetch`. */
export interface CreateFetchOptions {
  /**
   * Sends the calls.
   *
   * @defaultValue the global `fetch`, as it is when `createFetch` is called
   */
  readonly fetch?: Fetch | undefined
}

/** Configures `createFetch` with another package's `fetch`, such as undici's, which has its own types. */
export interface ForeignFetchOptions {
  /** Sends the calls. */
  readonly fetch: (input: never, init?: never) => Promise<object>
}

/** A `fetch` whose `init` also takes `tokenlane`: how Tokenlane treats the call. */
export type TokenlaneFetch = (input: Parameters<Fetch>[0], init?: TokenlaneRequestInit) => Promise<Response>

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
  const given = options.fetch as Fetch | undefined
  if (given !== undefined && typeof given !== 'function')
    refuseArgument(purpose, 'options.fetch', 'a fetch function')
  // found once: what replaces the global one later may lead back to the fetch that is made here
  const base = given ?? globalThis.fetch
  if (managerOf(base) === tokens) return base

  const route = (url: URL) => tokens.route(url)
  const fetch: TokenlaneFetch = (input, init) => {
    // not an async function: a promise more, and three turns of promises until it is settled
    try {
      const url = isRequest(input) ? input.url : String(input)
      const api = tokens.route(url)
      if (api === undefined) return base(input, init)
      const call =
        isRequest(input) || isRequest(init)
          ? requestCall(input, init)
          : // text that every parser reads as leading to the API, as the router has read it
            new Call(url.startsWith(api.baseUrl) ? url : new URL(url).href, init ?? {})
      if (call === undefined || (call instanceof Call && call.hasOwnAuthorization)) return base(input, init)
      mustKeepFloor(api.baseUrl)
      const dispatcher = init?.dispatcher
      return sendWithinApi(call, {
        api,
        route,
        fetch: dispatcher === undefined ? base : withDispatcher(base, dispatcher),
      })
    } catch (reason) {
      return Promise.reject(reason)
    }
  }
  // as that of the runtime's
  Object.defineProperty(fetch, 'length', { value: 1 })
  return markManaged(fetch, tokens)
}

/**
 * Returns the call where `input` or `init` is a `Request`, which decides as `fetch` reads it; `undefined` for one that brings
 * its own `Authorization`.
 */
function requestCall(
  input: Parameters<Fetch>[0],
  asGiven: TokenlaneRequestInit | null | undefined,
): OutgoingCall | undefined {
  const init = asGiven ?? {}
  const given = (isRequest(input) ? input : init) as Request
  if (hasAuthorization(copyOfFields(init.headers ?? given.headers))) return undefined
  const { tokenlane, ...rest } = init
  const { priority, resend } = checkCallOptions(tokenlane)
  const Class = given.constructor as typeof Request
  const asked = isRequest(init) ? init : rest
  const isPlain = isRequest(input) && Object.keys(rest).length === 0 && !input.bodyUsed
  const request = isPlain ? input : new Class(input, asked)
  const replayable = isReplayable(rest.body)
  return outgoingRequest(request, { client: 'fetch', priority, resend, replayable })
}

/** Returns a `fetch` that uses this dispatcher, also for the redirects of a `Request`. */
function withDispatcher(fetch: Fetch, dispatcher: unknown): Fetch {
  return (input, init) => fetch(input, { ...init, dispatcher } as RequestInit)
}

/** Whether this is a `Request`. The tag recognizes one of another realm or package, too. */
function isRequest(value: unknown): value is Request {
  const tag = (value as { readonly [Symbol.toStringTag]?: unknown } | null | undefined)?.[Symbol.toStringTag]
  return tag === 'Request'
}
