import type { Hop } from '@tokenlane/core/adapter'

/** What a call sends: ky's request with the token, as often as it must, and the redirects of it. */
export class Outgoing implements Hop {
  readonly replayable: boolean
  readonly followsRedirects: boolean
  readonly #request: Request
  /** What ky made the request's body of, where that is known. */
  readonly #source: unknown
  /** The same if it is text: then no copy is made ahead. */
  readonly #text: string | undefined
  /** A request with a body: a copy ahead where it can be sent again, since sending uses it up. */
  #copy: Request | undefined
  #sent = false

  constructor(request: Request, { replayable, source }: { replayable: boolean; source?: unknown }) {
    this.replayable = replayable
    this.followsRedirects = request.redirect === 'follow'
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

  /**
   * What to send next, as `fetch` and `Request` take it. ky's own request, which errors and hooks show, never has the
   * token.
   */
  next(authorization: string): [Request, RequestInit] {
    const init: RequestInit = { headers: withToken(this.headers, authorization) }
    if (this.followsRedirects) init.redirect = 'manual'
    if (this.#text !== undefined && this.#sent) {
      const again = { ...this.#kept(), method: this.method, headers: this.headers, body: this.#text }
      return [new Request(this.#request.url, again), init]
    }
    this.#sent = true
    return [this.#nextCopy() ?? this.#request, init]
  }

  /** Makes the requests of a redirect, with the token or without. */
  async hop({ url, method, headers, hasBody }: Hop): Promise<(authorization?: string) => Request> {
    const init: RequestInit = { ...this.#kept(), method, redirect: 'manual' }
    // read as a whole, so that its length is known, as in the first request
    const body = hasBody ? (this.#text ?? (await this.#nextCopy()?.arrayBuffer())) : undefined
    if (body !== undefined) init.body = body
    return (authorization) =>
      new Request(url, {
        ...init,
        headers: authorization === undefined ? headers : withToken(headers, authorization),
      })
  }

  /** Lets go of the copy that was not needed. */
  end(): void {
    // ends when all copies have ended, so nobody waits for it
    this.#copy?.body?.cancel().catch(() => {})
  }

  /** What every request of the call has, but for what is sent. */
  #kept(): RequestInit {
    const { cache, credentials, integrity, keepalive, mode, redirect, referrer, referrerPolicy, signal } =
      this.#request
    const kept = {
      cache,
      credentials,
      integrity,
      keepalive,
      mode,
      redirect,
      referrer,
      referrerPolicy,
      signal,
    }
    return kept
  }

  #nextCopy(): Request | undefined {
    const copy = this.#copy
    this.#copy = this.replayable ? copy?.clone() : undefined
    return copy
  }
}

function withToken(headers: Headers, authorization: string): Headers {
  const copy = new Headers(headers)
  copy.set('authorization', authorization)
  return copy
}
