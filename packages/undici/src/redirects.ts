import type { Api } from '@tokenlane/core/adapter'

import type { Controller, Handler, ResponseHeaders } from './handler.ts'

// at hand before any test replaces it by a clock of its own
const { setImmediate } = globalThis

/** What the next hop of a redirect has to know. */
interface Redirect {
  /** Where it leads; `undefined` where clients may read that differently. */
  readonly target: string | undefined
  /** The API whose token goes along, `undefined` once a hop was outside of it. */
  readonly api: Api | undefined
  /** Lets the manager close, which waits for the next hop. */
  readonly letClose: (() => void) | undefined
  isFollowed: boolean
}

/**
 * Tells the next hop of a redirect from a new call. Both arrive as requests that nothing connects; but `fetch` and the
 * `redirect` interceptor make the next hop in the same turn of the event loop in which they get the redirect, or its
 * end.
 */
export class Redirects {
  readonly #now = new Set<Redirect>()

  /** Returns the redirect that a request to this place follows. */
  take(url: URL): Redirect | undefined {
    for (const redirect of this.#now) {
      if (redirect.target !== undefined && redirect.target !== placeOf(url)) continue
      this.#now.delete(redirect)
      redirect.isFollowed = true
      return redirect
    }
    return undefined
  }

  /** Expects the next hop until the turn of the event loop ends. */
  expect(redirect: Redirect, { isLastTime = false }: { isLastTime?: boolean } = {}): void {
    if (!redirect.isFollowed) this.#now.add(redirect)
    setImmediate(() => {
      this.#now.delete(redirect)
      if (isLastTime || redirect.isFollowed) redirect.letClose?.()
    })
  }
}

/** A handler of one request that notes where it is redirected to. Everything else goes to the caller's handler. */
export class WatchedHandler implements Handler {
  readonly #handler: Handler
  readonly #redirects: Redirects
  readonly #url: URL
  readonly #api: Api | undefined
  #redirect: Redirect | undefined

  /** @param api the API whose token the request has. */
  constructor(
    handler: Handler,
    { redirects, url, api }: { redirects: Redirects; url: URL; api?: Api | undefined },
  ) {
    this.#handler = handler
    this.#redirects = redirects
    this.#url = url
    this.#api = api
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#handler.onRequestStart?.(controller, context)
  }

  onRequestUpgrade(
    controller: Controller,
    status: number,
    headers: ResponseHeaders,
    socket: unknown,
  ): unknown {
    return this.#handler.onRequestUpgrade?.(controller, status, headers, socket)
  }

  onResponseStarted(): void {
    this.#handler.onResponseStarted?.()
  }

  onResponseStart(controller: Controller, status: number, headers: ResponseHeaders, message?: string): void {
    if (status >= 300 && status < 400 && headers['location'] !== undefined) {
      const api = this.#api
      const target = targetOf(headers['location'], this.#url)
      this.#redirect = { target, api, letClose: api?.keepOpen(), isFollowed: false }
      this.#redirects.expect(this.#redirect)
    }
    this.#handler.onResponseStart?.(controller, status, headers, message)
  }

  onResponseData(controller: Controller, chunk: Uint8Array): void {
    this.#handler.onResponseData?.(controller, chunk)
    // a client that follows a redirect reads it to its end, or not at all
    if (controller.paused) this.#redirect?.letClose?.()
  }

  onResponseEnd(controller: Controller, trailers: ResponseHeaders): void {
    this.#end()
    this.#handler.onResponseEnd?.(controller, trailers)
  }

  onResponseError(controller: Controller | null, error: unknown): void {
    this.#end()
    this.#handler.onResponseError?.(controller, error)
  }

  onBodySent(chunk: Uint8Array): void {
    this.#handler.onBodySent?.(chunk)
  }

  onRequestSent(): void {
    this.#handler.onRequestSent?.()
  }

  #end(): void {
    if (this.#redirect !== undefined) this.#redirects.expect(this.#redirect, { isLastTime: true })
    this.#redirect = undefined
  }
}

/** Text in any other form than a single one of ASCII is read differently by `fetch` and by interceptors. */
function targetOf(location: string | readonly string[], base: URL): string | undefined {
  if (typeof location !== 'string' || !/^[\x20-\x7E]*$/.test(location)) return undefined
  const url = URL.parse(location, base.href)
  return url === null ? undefined : placeOf(url)
}

function placeOf({ origin, pathname, search }: URL): string {
  return origin + pathname + search
}
