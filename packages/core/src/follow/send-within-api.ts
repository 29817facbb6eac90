import type { AdmitOptions, Api, Exchange, Pass, SendOptions } from '../send/api.ts'
import { discardBody } from '../client/discard-body.ts'
import { withToken } from '../client/given-request.ts'
import { watchBody } from '../client/waiting-body.ts'
import { sendBare } from './bare-hop.ts'
import { isRedirect, networkError, nextHop, type Hop } from './redirects.ts'

type FetchArguments = [input: Request | string, init: RequestInit]
type Body = Exclude<RequestInit['body'], undefined>

interface SentHop extends Hop {
  /** Returns the next request to this URL, with this token. It leaves redirects to `sendWithinApi`. */
  next(authorization: string): FetchArguments
}

/** A call of the Fetch standard, which can make its requests more than once. */
export interface OutgoingCall extends SentHop, Omit<AdmitOptions, 'method' | 'url' | 'replayable'> {
  /** Whether redirects are to be followed, and not left to the caller. */
  readonly followsRedirects: boolean
  /** A pass for the first request, for a client that waits in one place and sends in another. */
  readonly pass?: Pass | undefined
  /** A body that can be read once, which may end or fail while the call waits. */
  readonly stream?: unknown
  body(): Body | Promise<Body>
  /** Frees what was kept for resending, once the caller's response has arrived. */
  ended?(): void
  failed(reason: unknown): void
}

export interface Destination {
  readonly api: Api
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
export async function sendWithinApi(
  call: OutgoingCall,
  { api, route, fetch }: Destination,
): Promise<Response> {
  let redirects = 0
  const { stream, mustBeRight } = call
  const isAborted = call.signal?.aborted === true && call.pass === undefined
  // a stream is locked while it is watched
  if (isAborted || stream !== undefined) mustBeRight?.()
  if (isAborted) return refuse(call, call.signal.reason)
  const waiting = watchBody(stream, call.signal)

  function send(hop: SentHop, more: Partial<SendOptions>): Promise<Response> {
    const attempt = async (authorization: string): Promise<Exchange<Response>> => {
      waiting.release()
      const response = await fetch(...hop.next(authorization))
      const isFollowed = call.followsRedirects && isRedirect(response)
      return exchangeOf(response, isFollowed ? (sent) => follow(hop, response, sent) : undefined)
    }
    return api.send(attempt, asked(call, hop, more))
  }

  async function follow(before: Hop, redirect: Response, sent: Pass): Promise<Response> {
    redirects += 1
    if (redirects > mostRedirects) throw networkError('redirect count exceeded')
    const hop = nextHop(before, redirect)
    await discardBody(redirect.body)
    const { url, method, headers } = hop
    const init = { ...hop.init, method, headers, body: hop.hasBody ? await call.body() : null }
    if (route(url) !== api) return afterLeaving(await sendBare(() => fetch(url.href, init)), call, hop)
    const next: SentHop['next'] = (authorization) => [
      url.href,
      { ...init, headers: withToken(headers, authorization), redirect: 'manual' },
    ]
    const pass = await sent.follow(asked(call, hop))
    const response = await send({ ...hop, next }, { pass })
    return redefine(response, { redirected: true })
  }

  try {
    const whileItWaits = stream === undefined ? mustBeRight : undefined
    const first = { pass: call.pass, signal: waiting.signal, mustBeRight: whileItWaits }
    const response = await send(call, first)
    call.ended?.()
    return response
  } catch (reason) {
    waiting.abandon()
    return refuse(call, waiting.death === undefined ? reason : failedBy(waiting.death.error))
  }
}

function refuse(call: OutgoingCall, reason: unknown): never {
  call.failed(reason)
  throw reason
}

/** The error of Node's own `fetch` for a body that fails, or that closes before its end. */
function failedBy(error: unknown): TypeError {
  const premature = Object.assign(new Error('Premature close'), { code: 'ERR_STREAM_PREMATURE_CLOSE' })
  return new TypeError('fetch failed', { cause: error ?? premature })
}

function asked(
  { client, signal, priority, resend, cost }: OutgoingCall,
  hop: Hop,
  more?: Partial<SendOptions>,
): SendOptions {
  const { method, hasBody } = hop
  // only few policies need it parsed
  const url = (): URL => hop.url
  const replayable = hop.replayable || !hasBody
  return { client, method, url, signal, priority, resend, cost, replayable, ...more }
}

/** Native fetch saw only the last hop, so restores `redirected`, `type` and `url`. */
function afterLeaving(response: Response, call: OutgoingCall, hop: Hop): Response {
  if (response.type !== 'basic' || hop.url.origin === call.url.origin)
    return redefine(response, { redirected: true })
  if (call.init.mode !== 'no-cors') return redefine(response, { redirected: true, type: 'cors' })
  void discardBody(response.body)
  return redefine(Response.error(), { redirected: true, type: 'opaque', url: response.url })
}

function redefine(
  response: Response,
  values: Partial<Pick<Response, 'redirected' | 'type' | 'url'>>,
): Response {
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(response, name, { value, configurable: true, enumerable: true })
  const { clone } = response
  return Object.defineProperty(response, 'clone', {
    value: () => redefine(clone.call(response), values),
    configurable: true,
  })
}

export function exchangeOf(response: Response, follow?: Exchange<Response>['follow']): Exchange<Response> {
  return {
    status: response.status,
    header: (name) => response.headers.get(name),
    result: response,
    discard: () => discardBody(response.body),
    follow,
  }
}
