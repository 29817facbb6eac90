import type { Api, Pass } from '@tokenlane/core/adapter'

import type { DispatchOptions, Handler, ResponseHeaders } from './handler.ts'

/** The handler of undici's interceptor `redirect`, which sends each hop with itself as the handler. */
interface Chain extends Handler {
  /** The URLs that were left. */
  readonly history: readonly URL[]
  /** Where the response leads that is being read, if that is to be followed. */
  readonly location: string | null | undefined
}

interface Hop {
  /** The API whose token it is, `undefined` once a hop has left it, and the pass that the hop goes on with. */
  readonly api: Api | undefined
  readonly pass?: Pass | undefined
  /** Releases the pass of a response, or keeps it for the hop that undici will send; returns what ends the waiting for it. */
  readonly expect: (status: number, headers: ResponseHeaders, pass: Pass) => (() => void) | undefined
}

/**
 * Tells the hops of undici's `redirect` from calls, and which of them take the token along: those of a call that has not left
 * its API. Where another interceptor hides the handler, a hop takes it along if a response of its API is leading there.
 */
export class Redirects {
  readonly #chains = new WeakMap<Chain, Omit<Hop, 'expect'>>()
  readonly #hidden = new Map<string, Omit<Hop, 'expect'>>()

  /** @param api the one that the URL belongs to. */
  follow(url: string, api: Api | undefined, { query, headers }: DispatchOptions, handler: Handler): Hop {
    const chain = chainOf(handler)
    // `redirect` sends headers and a query that is null
    const isHop = chain ? chain.history.length > 0 : query === null && Boolean(headers)
    const before = chain ? this.#chains.get(chain) : isHop ? this.#hidden.get(hrefOf(url)) : undefined
    const along = !isHop || before?.api === api ? api : undefined
    if (chain) this.#chains.set(chain, { api: along })
    return {
      api: along,
      pass: isHop ? along && before?.pass : undefined,
      expect: (status, { location }, pass) => {
        if (!chain?.location) pass.release()
        if (status < 300 || status >= 400 || location === undefined) return undefined
        const target = hrefOf(String(location), url)
        if (chain) this.#chains.set(chain, { api, pass })
        else this.#hidden.set(target, { api })
        return () => {
          this.#hidden.delete(target)
          pass.release()
        }
      },
    }
  }
}

function hrefOf(url: string, base?: string): string {
  return URL.parse(url, base)?.href ?? ''
}

/** The interceptor `retry` keeps the handler that it was called with. */
function chainOf(handler: Handler & { readonly handler?: unknown }): Chain | undefined {
  const { handler: within } = handler
  return isChain(handler) ? handler : isChain(within) ? within : undefined
}

function isChain(handler: unknown): handler is Chain {
  const { history } = Object(handler) as Partial<Chain>
  return Array.isArray(history) && 'location' in (handler as object)
}
