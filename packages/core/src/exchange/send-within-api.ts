import type { Api, SendOptions } from '../send/api.ts'
import { discardBody } from './discard-body.ts'
import { isRedirect, networkError, nextHop, type Hop, type RedirectedCall } from './redirects.ts'
import { ResponseExchange } from './response-exchange.ts'

/** What `fetch` takes. */
export type FetchArguments = [input: Request | string, init: RequestInit]

/** A call of the Fetch standard, which can make its requests more than once. */
export interface OutgoingCall extends RedirectedCall, SendOptions {
  readonly method: string
  readonly replayable: boolean
  /** Whether redirects are to be followed, and not left to the caller. */
  readonly followsRedirects: boolean
  /** Returns the next request to the URL of the call, with this token. */
  next(authorization: string): FetchArguments
  /**
   * Prepares the request of a redirect, and returns a function that adds the token. With a token the request leaves
   * further redirects to the caller; without one, `fetch` follows them.
   */
  hop(hop: Hop): Promise<(authorization?: string) => FetchArguments>
  /** Frees what was kept to be sent again, when the response of the caller is there. */
  ended(): void
  /** The same when the call fails, with the reason. */
  failed(reason: unknown): void
}

/** Where a call goes. */
export interface Destination {
  readonly api: Api
  /** Returns the API that a URL belongs to. */
  readonly route: (url: URL) => Api | undefined
  readonly fetch: typeof globalThis.fetch
}

const mostRedirects = 20

/**
 * Sends a call to its API, and follows its redirects with the token for as long as they stay within that API. The
 * first redirect that leaves the API is sent without the token, and `fetch` follows those after it.
 *
 * @throws what `fetch` and `api.send` throw.
 */
export function sendWithinApi(call: OutgoingCall, destination: Destination): Promise<Response> {
  const { api, fetch } = destination
  return api.send((token) => {
    const [input, init] = call.next(token)
    // one given by the caller may return anything that can be awaited
    const going = Promise.resolve(fetch(input, init))
    return going.then((response) => new FirstExchange(response, call, destination))
  }, call)
}

/** The exchange with the URL of the call. Its result is the response at the end of all redirects. */
class FirstExchange extends ResponseExchange {
  readonly #call: OutgoingCall
  readonly #destination: Destination

  constructor(response: Response, call: OutgoingCall, destination: Destination) {
    super(response)
    this.#call = call
    this.#destination = destination
  }

  override get result(): Response | Promise<Response> {
    const { response, status } = this
    if (this.#call.followsRedirects && isRedirect(response, status))
      return follow(response, this.#call, this.#destination)
    this.#call.ended()
    return response
  }
}

async function follow(redirect: Response, call: OutgoingCall, destination: Destination): Promise<Response> {
  // between two of its attempts, the call holds no pass
  const closeMayGoOn = destination.api.keepOpen()
  try {
    const response = await lastResponse(redirect, call, destination)
    call.ended()
    return response
  } catch (reason) {
    call.failed(reason)
    throw reason
  } finally {
    closeMayGoOn()
  }
}

async function lastResponse(
  redirect: Response,
  call: OutgoingCall,
  { api, route, fetch }: Destination,
): Promise<Response> {
  const { client, signal, priority, resend } = call
  let response = redirect
  let hop: Hop = call
  for (let redirects = 0; redirects < mostRedirects; redirects += 1) {
    hop = nextHop(hop, response, call)
    await discardBody(response.body)
    const next = await call.hop(hop)
    if (route(hop.url) !== api) return afterLeaving(await fetch(...next()), call, hop)
    const attempt = (token: string) => ResponseExchange.of(fetch(...next(token)))
    const { method } = hop
    response = await api.send(attempt, { client, method, signal, priority, resend, sentBefore: true })
    if (!isRedirect(response)) return redefine(response, { redirected: true })
  }
  throw networkError('redirect count exceeded')
}

/** To the client's own `fetch`, the hop that left the API was the first request. */
function afterLeaving(response: Response, call: OutgoingCall, hop: Hop): Response {
  if (response.type !== 'basic' || hop.url.origin === call.url.origin)
    return redefine(response, { redirected: true })
  if (call.mode !== 'no-cors') return redefine(response, { redirected: true, type: 'cors' })
  void discardBody(response.body)
  return redefine(Response.error(), { redirected: true, type: 'opaque', url: response.url })
}

function redefine(
  response: Response,
  values: Partial<Pick<Response, 'redirected' | 'type' | 'url'>>,
): Response {
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(response, name, { value, configurable: true, enumerable: true })
  return response
}
