import type { SendOptions } from '../send/api.ts'
import type { OutgoingCall } from './send-within-api.ts'
import { requestClass, withToken } from '../client/given-request.ts'

/** What a `Request` does not say about its call. */
export interface OutgoingOptions extends Omit<SendOptions, 'method' | 'signal'> {
  /** What the body was made from, if the client knows it. The request's body is then not read for a copy. */
  readonly source?: unknown
  /** What the runtime's `fetch` takes in addition to the Fetch standard, for every request of the call. */
  readonly beyond?: object | undefined
}

/** Returns a call for a given `Request`, which never gets the token itself, because errors and hooks show it. */
export function outgoingRequest(
  request: Request,
  { source, beyond, replayable = true, ...options }: OutgoingOptions,
): OutgoingCall {
  const { method, signal, referrer, referrerPolicy } = request
  // the caller may change those of the request while the call waits
  const headers = new (request.headers.constructor as typeof Headers)(request.headers)
  const followsRedirects = request.redirect === 'follow'
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
  return {
    ...options,
    replayable,
    followsRedirects,
    signal,
    method,
    headers,
    // for requests that are made anew, such as those of redirects
    get init() {
      const { cache, credentials, integrity, keepalive, mode } = request
      return { ...beyond, cache, credentials, integrity, keepalive, mode, signal, referrer, referrerPolicy }
    },
    hasBody,
    stream: replayable ? undefined : copy?.body,
    get url() {
      return new URL(request.url)
    },
    next(authorization) {
      // an init resets the referrer of its request
      const sent: RequestInit = { ...beyond, headers: withToken(headers, authorization), referrerPolicy }
      if (referrer !== 'about:client') sent.referrer = referrer
      if (followsRedirects) sent.redirect = 'manual'
      if (text !== undefined && wasSent) return [request.url, { ...this.init, method, body: text, ...sent }]
      wasSent = true
      return [nextCopy() ?? request, sent]
    },
    // read as a whole, so that its length is known, as in the first request
    body: async () => text ?? (await nextCopy()?.arrayBuffer()) ?? null,
    ended() {
      if (copy !== undefined) cancelBody(copy)
    },
    failed(reason) {
      try {
        // an unsent body is let go of as `fetch` does it, which reaches the stream that it was made of
        const unsent = wasSent ? copy : new (requestClass(request))(request)
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
