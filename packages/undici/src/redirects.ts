import type { Api, Pass } from '@tokenlane/core/adapter'

import type { DispatchOptions, Handler, ResponseHeaders } from './handler.ts'

/** The handler of undici's interceptor `redirect`, which sends each hop with itself as the handler. */
interface Chain extends Handler {
  /** The URLs that were left. */
  readonly history: readonly URL[]
  /** Where the response leads that is being read, if that is to be followed. */
  readonly location: string | null | undefined
}

/** A request, the handler that it came with, and the API that its URL belongs to. */
export interface Sent {
  readonly options: DispatchOptions
  readonly handler: Handler
  readonly url: URL
  readonly api: Api | undefined
}

/** The API whose token the next hop takes along, `undefined` once a hop has left it, and the pass that it goes on with. */
interface Along {
  readonly api: Api | undefined
  readonly pass?: Pass | undefined
}

/**
 * Tells the hops of undici's `redirect` from calls, and which of them take the token along: those of a call that has not left
 * its API. Where another interceptor hides the handler, a hop takes it along if a response of its API is leading there.
 */
export class Redirects {
  readonly #chains = new WeakMap<Chain, Along>()
  readonly #hidden = new Map<string, Along>()

  follow({ options, handler, url, api }: Sent): Along {
    const chain = chainOf(handler)
    // only `redirect` sends a query that is null
    const isHop = chain ? chain.history.length > 0 : options.query === null
    const before = chain ? this.#chains.get(chain) : this.#hidden.get(url.href)
    const along = !isHop || before?.api === api ? api : undefined
    if (chain) this.#chains.set(chain, { api: along })
    return { api: along, pass: isHop && along ? before?.pass : undefined }
  }

  /**
   * Releases the pass of a response, or keeps it for the next hop if undici says that one will come.
   *
   * @returns what ends the waiting for a hop, once the response has ended.
   */
  expect(
    { handler, url, api }: Sent,
    status: number,
    { location }: ResponseHeaders,
    pass: Pass,
  ): (() => void) | undefined {
    const chain = chainOf(handler)
    if (!chain?.location) pass.release()
    if (status < 300 || status >= 400 || location === undefined) return undefined
    const target = URL.parse(String(location), url.href)?.href ?? ''
    if (chain) this.#chains.set(chain, { api, pass })
    else this.#hidden.set(target, { api })
    return () => {
      this.#hidden.delete(target)
      pass.release()
    }
  }
}

/** The interceptor `retry` keeps the handler that it was called with. */
function chainOf(handler: Handler): Chain | undefined {
  const { handler: inner } = handler as { readonly handler?: unknown }
  return [handler, inner].find(
    (each): each is Chain =>
      Array.isArray((Object(each) as Partial<Chain>).history) && 'location' in Object(each),
  )
}
