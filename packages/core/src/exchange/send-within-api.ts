import type { AdmitOptions, Api, Exchange, Pass } from '../send/api.ts'
import { discardBody } from './discard-body.ts'
import { isRedirect, networkError, nextHop, type Hop, type RedirectedCall } from './redirects.ts'

/** What `fetch` takes. */
type FetchArguments = [input: Request | string, init: RequestInit]

/** A call of the Fetch standard, which can make its requests more than once. */
export interface OutgoingCall extends RedirectedCall, AdmitOptions {
  readonly method: string
  readonly replayable: boolean
  /** Whether redirects are to be followed, and not left to the caller. */
  readonly followsRedirects: boolean
  /** A pass for the first request, for a client that waits in one place and sends in another. */
  readonly pass?: Pass | undefined
  /** Returns the next request to the call's URL, with this token. */
  next(authorization: string): FetchArguments
  /**
   * Prepares the request of a redirect, and returns a function that adds the token. With a token the request leaves
   * further redirects to the caller; without one, `fetch` follows them.
   */
  hop(hop: Hop): Promise<(authorization?: string) => FetchArguments>
  /** Frees what was kept for resending, once the caller's response has arrived. */
  ended(): void
  /** Does the same when the call fails; `reason` says why. */
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
export async function sendWithinApi(call: OutgoingCall, destination: Destination): Promise<Response> {
  try {
    const response = await sendHop(call, destination, call)
    call.ended()
    return response
  } catch (reason) {
    call.failed(reason)
    throw reason
  }
}

/** Sends one request of the call, and those that it is redirected to. */
function sendHop(
  call: OutgoingCall,
  destination: Destination,
  hop: Hop,
  redirects = 0,
  request?: (authorization: string) => FetchArguments,
  pass = call.pass,
): Promise<Response> {
  const { api, fetch, route } = destination
  const follow = async (redirect: Response, sent: Pass): Promise<Response> => {
    if (redirects === mostRedirects) throw networkError('redirect count exceeded')
    const after = nextHop(hop, redirect, call)
    await discardBody(redirect.body)
    const requestOf = await call.hop(after)
    if (route(after.url) !== api) return afterLeaving(await fetch(...requestOf()), call, after)
    const passOfHop = await sent.follow(asked(call, after))
    const response = await sendHop(call, destination, after, redirects + 1, requestOf, passOfHop)
    return redefine(response, { redirected: true })
  }
  const attempt = async (token: string): Promise<Exchange<Response>> => {
    const response = await fetch(...(request?.(token) ?? call.next(token)))
    const isFollowed = call.followsRedirects && isRedirect(response)
    return exchangeOf(response, isFollowed ? (sent) => follow(response, sent) : undefined)
  }
  return api.send(attempt, { ...asked(call, hop), pass })
}

/** What is asked for one request of the call. */
function asked(call: OutgoingCall, { method, hasBody }: Hop): AdmitOptions {
  const { client, signal, priority, resend } = call
  return { client, method, signal, priority, resend, replayable: call.replayable || !hasBody }
}

/** Native fetch saw only the last hop, so restores `redirected`, `type` and `url`. */
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

/** Returns one exchange that ended with a `Response` of the Fetch standard. */
export function exchangeOf(response: Response, follow?: Exchange<Response>['follow']): Exchange<Response> {
  const { status } = response
  const header = (name: string): string | null => response.headers.get(name)
  return {
    status,
    // read where they count: in the response to a refused call
    retryAfter: status < 400 ? undefined : header('retry-after'),
    wwwAuthenticate: status === 401 ? header('www-authenticate') : undefined,
    header,
    result: response,
    discard: () => discardBody(response.body),
    follow,
  }
}
