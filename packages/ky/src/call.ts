import {
  checkCallOptions,
  followRedirects,
  isRedirect,
  isReplayable,
  withDispatcher,
  type Api,
  type FetchCall,
  type SendOptions,
  type TokenManager,
} from '@tokenlane/core'
import type { Options } from 'ky'

import { exchange } from './exchange.ts'
import { HeldPass } from './held-pass.ts'
import { Outgoing } from './outgoing.ts'

/** Whose tokens calls get, and what keeps `fetch` at TLS 1.2 or later. */
export interface Manager {
  readonly tokens: TokenManager
  readonly dispatcherFor: (call: FetchCall) => unknown
}

/** One call of ky: it waits in ky's hooks, where no `timeout` runs, and sends in ky's `fetch`. */
export class Call {
  readonly #options: Options
  readonly #tokens: TokenManager
  readonly #dispatcherFor: Manager['dispatcherFor']
  readonly #fetch: Options['fetch']
  readonly #held = new HeldPass()
  /** The body of the request that waited, where it is text that nothing but ky made a request of. */
  #text: { readonly of: Request; readonly body: string } | undefined

  constructor(options: Options, { tokens, dispatcherFor }: Manager) {
    this.#options = options
    this.#tokens = tokens
    this.#dispatcherFor = dispatcherFor
    this.#fetch = options.fetch
  }

  /** Waits until the request may go out. `body` is what ky made it of, if that is known. */
  async wait(request: Request, body?: unknown): Promise<void> {
    this.#text = typeof body === 'string' ? { of: request, body } : undefined
    const api = this.#apiOf(request)
    // after a timeout, ky makes a new signal just before it sends: then `send` has to wait
    if (api === undefined || request.signal.aborted) return
    this.#dispatcher(api)
    this.#held.hold({ request, api, pass: await api.admit(this.#asks(request)) })
  }

  /** Sends the request, and its redirects with the token for as long as they stay in the API. */
  async send(request: Request, init: RequestInit = {}): Promise<Response> {
    const fetch = this.#fetch ?? globalThis.fetch
    const api = this.#apiOf(request)
    if (api === undefined) {
      this.#held.release()
      return fetch(request, init)
    }

    const { tokenlane: _, ...rest } = init as Options & RequestInit
    const asks = this.#asks(request)
    const secure = withDispatcher(fetch, this.#dispatcher(api))
    const text = this.#text?.of === request ? this.#text.body : undefined
    const outgoing = new Outgoing(request, { replayable: asks.replayable ?? true, text })
    try {
      const pass = this.#held.take(api)
      const attempt = (token: string) => {
        const [next, withToken] = outgoing.next(token)
        // a `fetch` of the caller's may look at nothing but the request; ours makes one anyway
        if (this.#fetch !== undefined) return exchange(secure(new Request(next, withToken), rest))
        return exchange(secure(next, { ...rest, ...withToken }))
      }
      const response = await api.send(attempt, { ...asks, pass })
      if (!outgoing.followsRedirects || !isRedirect(response)) return response
      let inside = true
      return await followRedirects(response, outgoing, async (hop) => {
        inside &&= this.#tokens.route(hop.url) === api
        const next = await outgoing.hop(hop)
        if (!inside) return fetch(next(), rest)
        return api.send((token) => exchange(secure(next(token), rest)), {
          ...asks,
          replayable: true,
          underway: true,
        })
      })
    } finally {
      outgoing.end()
    }
  }

  #apiOf(request: Request): Api | undefined {
    // a hook may have set it meanwhile
    if (request.headers.has('authorization')) return undefined
    return this.#held.apiOf(request) ?? this.#tokens.route(request.url)
  }

  /** What to add to ky's own options. Looked for before the wait too, so that nothing waits in vain. */
  #dispatcher({ baseUrl }: Api): unknown {
    const { dispatcher } = this.#options as { readonly dispatcher?: unknown }
    return this.#dispatcherFor({ url: baseUrl, dispatcher, ownFetch: this.#fetch !== undefined })
  }

  #asks({ signal }: Request): SendOptions {
    const { tokenlane, body } = this.#options
    return { signal, priority: checkCallOptions(tokenlane).priority, replayable: isReplayable(body) }
  }
}
