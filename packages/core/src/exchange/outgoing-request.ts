import type { SendOptions } from '../send/api.ts'
import type { OutgoingCall } from './send-within-api.ts'
import { withToken } from './given-request.ts'

/** What a `Request` does not say about its call. */
export interface OutgoingOptions extends Omit<SendOptions, 'method' | 'signal'> {
  /** What the body was made from, if the client knows it. The request's body is then not read for a copy. */
  readonly source?: unknown
}

/**
 * Returns a call for a `Request` that its client or the caller has created.
 *
 * That request never gets the token, because errors and hooks show it.
 */
export function outgoingRequest(
  request: Request,
  { source, replayable = true, ...options }: OutgoingOptions,
): OutgoingCall {
  const { method, headers, signal, mode, referrer, referrerPolicy, redirect } = request
  const followsRedirects = redirect === 'follow'
  /** The source, if it is text: it can be sent again without a copy. */
  const text = typeof source === 'string' ? source : undefined
  // a look at the body of a request makes Deno send it chunked
  const hasBody = (source ?? request.body) !== null
  /** What is sent next of a request with a body; cloned before, if the call can be sent again, since sending uses it up. */
  let copy = text === undefined && hasBody ? request : undefined
  let wasSent = false
  const nextCopy = (): Request | undefined => {
    const next = copy
    copy = replayable ? next?.clone() : undefined
    return next
  }
  /** What every request of the call has, but for what is sent. */
  const kept = (): RequestInit => {
    const { cache, credentials, integrity, keepalive } = request
    const init = { cache, credentials, integrity, keepalive, mode, signal }
    return init
  }
  return {
    ...options,
    replayable,
    followsRedirects,
    signal,
    method,
    headers,
    hasBody,
    get url() {
      return new URL(request.url)
    },
    mode,
    referrer: { referrer, referrerPolicy },
    next(authorization) {
      const init: RequestInit = { headers: withToken(headers, authorization) }
      // an init resets the referrer of its request
      if (referrer !== 'about:client') init.referrer = referrer
      if (referrerPolicy !== '') init.referrerPolicy = referrerPolicy
      if (followsRedirects) init.redirect = 'manual'
      if (text !== undefined && wasSent) return [request.url, { ...kept(), method, body: text, ...init }]
      wasSent = true
      return [nextCopy() ?? request, init]
    },
    async hop(hop) {
      const init: RequestInit = { ...kept(), ...hop.referrer, method: hop.method }
      // read as a whole, so that its length is known, as in the first request
      if (hop.hasBody) init.body = text ?? (await nextCopy()?.arrayBuffer()) ?? null
      return (authorization) => [
        hop.url.href,
        authorization === undefined
          ? { ...init, headers: hop.headers }
          : { ...init, headers: withToken(hop.headers, authorization), redirect: 'manual' },
      ]
    },
    ended() {
      if (copy !== undefined) cancelBody(copy)
    },
    failed(reason) {
      try {
        // an unsent body is let go of as `fetch` does it, which reaches the stream that it was made of
        const unsent = wasSent ? copy : new Request(request)
        if (unsent !== undefined) cancelBody(unsent, reason)
      } catch {
        // the caller has used the body meanwhile
      }
    },
  }
}

/** Ends when all copies of the body have ended, which is not waited for. */
function cancelBody({ body }: Request, reason?: unknown): void {
  body?.cancel(reason).catch(() => {})
}
