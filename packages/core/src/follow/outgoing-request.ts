import type { SendOptions } from '../send/api.ts'
import type { OutgoingCall } from './send-within-api.ts'
import { requestClass, urlOf, withToken } from '../client/given-request.ts'

/** What a `Request` does not say about its call. */
export interface OutgoingOptions extends Omit<SendOptions, 'method' | 'signal' | 'url'> {
  /** What the body was made from, if the client knows it. The request's body is then not read for a copy. */
  readonly source?: unknown
  /** What the runtime's `fetch` takes in addition to the Fetch standard, for every request of the call. */
  readonly beyond?: object | undefined
}

/** A call for a given `Request`, which never gets the token itself, because errors and hooks show it. */
export class OutgoingRequest implements OutgoingCall {
  readonly method: string
  readonly headers: Headers
  readonly signal: AbortSignal
  readonly followsRedirects: boolean
  readonly hasBody: boolean
  readonly replayable: boolean
  readonly stream: unknown
  readonly client: OutgoingCall['client']
  readonly pass: OutgoingCall['pass']
  readonly priority: OutgoingCall['priority']
  readonly resend: OutgoingCall['resend']
  readonly cost: OutgoingCall['cost']
  readonly #request: Request
  readonly #referrer: string
  readonly #referrerPolicy: Request['referrerPolicy']
  readonly #beyond: object | undefined
  /** What the body was made from, if it is text: it can be sent again without a copy. */
  readonly #text: string | undefined
  /** What is sent next of a request with a body; cloned before, if the call can be sent again, since sending uses it up. */
  #copy: Request | undefined
  #wasSent = false

  constructor(request: Request, options: OutgoingOptions) {
    const { source, replayable = true } = options
    this.method = request.method
    // the caller may change those of the request while the call waits
    this.headers = new (request.headers.constructor as typeof Headers)(request.headers)
    this.signal = request.signal
    this.followsRedirects = request.redirect === 'follow'
    // a look at the body of a request makes Deno send it chunked
    this.hasBody = (source ?? request.body) !== null
    this.replayable = replayable
    this.client = options.client
    this.pass = options.pass
    this.priority = options.priority
    this.resend = options.resend
    this.cost = options.cost
    this.#request = request
    this.#referrer = request.referrer
    this.#referrerPolicy = request.referrerPolicy
    this.#beyond = options.beyond
    this.#text = typeof source === 'string' ? source : undefined
    this.#copy = this.#text === undefined && this.hasBody ? request : undefined
    this.stream = replayable ? undefined : this.#copy?.body
  }

  get url(): URL {
    return new URL(urlOf(this.#request))
  }

  get init(): RequestInit {
    const { cache, credentials, integrity, keepalive, mode } = this.#request
    const own = { cache, credentials, integrity, keepalive, mode, signal: this.signal }
    return { ...this.#beyond, ...own, referrer: this.#referrer, referrerPolicy: this.#referrerPolicy }
  }

  next(authorization: string): ReturnType<OutgoingCall['next']> {
    const text = this.#text
    // an init resets the referrer of its request
    const sent: RequestInit = {
      ...this.#beyond,
      headers: withToken(this.headers, authorization),
      referrerPolicy: this.#referrerPolicy,
    }
    if (this.#referrer !== 'about:client') sent.referrer = this.#referrer
    // set in either case: a request that is made anew does not have the mode of the given one
    sent.redirect = this.followsRedirects ? 'manual' : this.#request.redirect
    if (text !== undefined && this.#wasSent)
      return [urlOf(this.#request), { ...this.init, method: this.method, body: text, ...sent }]
    this.#wasSent = true
    return [this.#nextCopy() ?? this.#request, sent]
  }

  /** Read as a whole, so that its length is known, as in the first request. */
  async body(): Promise<Exclude<RequestInit['body'], undefined>> {
    return this.#text ?? (await this.#nextCopy()?.arrayBuffer()) ?? null
  }

  ended(): void {
    if (this.#copy !== undefined) this.#cancel(this.#copy)
  }

  failed(reason: unknown): void {
    const request = this.#request
    try {
      // an unsent body is let go of as `fetch` does it, which reaches the stream that it was made of
      const unsent = this.#wasSent ? this.#copy : new (requestClass(request))(request)
      if (unsent !== undefined) this.#cancel(unsent, reason)
    } catch {
      // the caller has used the body meanwhile
    }
  }

  #nextCopy(): Request | undefined {
    const next = this.#copy
    this.#copy = this.replayable ? next?.clone() : undefined
    return next
  }

  /** Not awaited: it resolves once every copy of the body has ended. */
  #cancel({ body, headers }: Request, reason?: unknown): void {
    // Node reads all of a form at once, and rejects unhandled where that is canceled
    const isForm = this.replayable && headers.get('content-type')?.startsWith('multipart/') === true
    if (!isForm) body?.cancel(reason).catch(() => {})
  }
}
