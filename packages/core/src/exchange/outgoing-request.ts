import type { SendOptions } from '../send/api.ts'
import type { Hop } from './redirects.ts'
import type { Referrer } from './referrer.ts'
import type { FetchArguments, OutgoingCall } from './send-within-api.ts'
import { withToken } from './header-fields.ts'

/** What a `Request` does not say about its call. */
export interface OutgoingOptions extends Omit<SendOptions, 'method' | 'signal'> {
  /** What the body was made of, where the client knows it. Then the body of the request is not read for a copy. */
  readonly source?: unknown
}

/**
 * A call for which its client, or the caller, has made a `Request`.
 *
 * That request never gets the token, because errors and hooks show it.
 */
export class OutgoingRequest implements OutgoingCall {
  readonly replayable: boolean
  readonly followsRedirects: boolean
  readonly signal: AbortSignal
  readonly client: string | undefined
  readonly priority: number | undefined
  readonly resend: boolean | undefined
  readonly pass: SendOptions['pass']
  readonly #request: Request
  readonly #source: unknown
  /** The source, if it is text: it can be sent again without a copy. */
  readonly #text: string | undefined
  /** What is sent next of a request with a body; cloned before, if the call can be sent again, since sending uses it up. */
  #copy: Request | undefined
  #sent = false

  constructor(request: Request, options: OutgoingOptions) {
    const { replayable = true, source, client, priority, resend, pass } = options
    this.replayable = replayable
    this.followsRedirects = request.redirect === 'follow'
    this.signal = request.signal
    this.client = client
    this.priority = priority
    this.resend = resend
    this.pass = pass
    this.#request = request
    this.#source = source
    this.#text = typeof source === 'string' ? source : undefined
    if (this.#text === undefined && this.hasBody) this.#copy = request
  }

  get url(): URL {
    return new URL(this.#request.url)
  }

  get method(): string {
    return this.#request.method
  }

  get headers(): Headers {
    return this.#request.headers
  }

  get hasBody(): boolean {
    // a look at the body of a request makes Deno send it chunked
    return (this.#source ?? this.#request.body) !== null
  }

  get mode(): RequestInit['mode'] {
    return this.#request.mode
  }

  get referrer(): Referrer {
    const { referrer, referrerPolicy } = this.#request
    return { referrer, referrerPolicy }
  }

  next(authorization: string): FetchArguments {
    const init: RequestInit = { headers: withToken(this.headers, authorization) }
    const { referrer, referrerPolicy } = this.#request
    // an init resets the referrer of its request; parsing the default again would take a microsecond
    if (referrer !== 'about:client') init.referrer = referrer
    if (referrerPolicy !== '') init.referrerPolicy = referrerPolicy
    if (this.followsRedirects) init.redirect = 'manual'
    if (this.#text !== undefined && this.#sent)
      return [this.#request.url, { ...this.#kept(), method: this.method, body: this.#text, ...init }]
    this.#sent = true
    return [this.#nextCopy() ?? this.#request, init]
  }

  async hop({
    url,
    method,
    headers,
    hasBody,
    referrer,
  }: Hop): Promise<(authorization?: string) => FetchArguments> {
    const init: RequestInit = { ...this.#kept(), ...referrer, method }
    // read as a whole, so that its length is known, as in the first request
    if (hasBody) init.body = this.#text ?? (await this.#nextCopy()?.arrayBuffer()) ?? null
    return (authorization) => [
      url.href,
      authorization === undefined
        ? { ...init, headers }
        : { ...init, headers: withToken(headers, authorization), redirect: 'manual' },
    ]
  }

  ended(): void {
    if (this.#copy !== undefined) cancelBody(this.#copy)
  }

  failed(reason: unknown): void {
    try {
      // an unsent body is let go of as `fetch` does it, which reaches the stream that it was made of
      const unsent = this.#sent ? this.#copy : new Request(this.#request)
      if (unsent !== undefined) cancelBody(unsent, reason)
    } catch {
      // the caller has used the body meanwhile
    }
  }

  /** What every request of the call has, but for what is sent. */
  #kept(): RequestInit {
    const { cache, credentials, integrity, keepalive, mode } = this.#request
    const kept = { cache, credentials, integrity, keepalive, mode, signal: this.signal }
    return kept
  }

  #nextCopy(): Request | undefined {
    const copy = this.#copy
    this.#copy = this.replayable ? copy?.clone() : undefined
    return copy
  }
}

/** Ends when all copies of the body have ended, which is not waited for. */
function cancelBody({ body }: Request, reason?: unknown): void {
  body?.cancel(reason).catch(() => {})
}
