import type { Hop } from '@tokenlane/core'

/** What a call sends: ky's request with the token, as often as it must, and the redirects of it. */
export class Outgoing implements Hop {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
  readonly hasBody: boolean
  readonly replayable: boolean
  readonly followsRedirects: boolean
  readonly #request: Request
  /** A request with a body: a copy ahead where it can be sent again, since sending uses it up. */
  #copy: Request | undefined

  constructor(request: Request, replayable = true) {
    this.url = new URL(request.url)
    this.method = request.method
    this.headers = request.headers
    this.hasBody = request.body !== null
    this.replayable = replayable
    this.followsRedirects = request.redirect === 'follow'
    this.#request = request
    if (this.hasBody) this.#copy = request
  }

  /** The next request to send. ky's own, which errors and hooks show, never has the token. */
  next(authorization: string): Request {
    const init: RequestInit = { headers: withToken(this.headers, authorization) }
    if (this.followsRedirects) init.redirect = 'manual'
    return new Request(this.#nextCopy() ?? this.#request, init)
  }

  /** Makes the requests of a redirect, with the token or without. */
  async hop({ url, method, headers, hasBody }: Hop): Promise<(authorization?: string) => Request> {
    const { cache, credentials, integrity, keepalive, mode, referrer, referrerPolicy, signal } = this.#request
    const kept = { cache, credentials, integrity, keepalive, mode, referrer, referrerPolicy, signal }
    const init: RequestInit = { ...kept, method, redirect: 'manual' }
    // read as a whole, so that its length is known, as in the first request
    const body = hasBody ? await this.#nextCopy()?.arrayBuffer() : undefined
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
