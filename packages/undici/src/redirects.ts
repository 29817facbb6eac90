import type { Api, Pass } from '@tokenlane/core/adapter'

import { fetchIsFollowing, isFetch, targetsOf } from './fetch.ts'
import type { AnyHandler, DispatchOptions, ResponseHeaders } from './handler.ts'

// at hand before any test replaces it by a clock of its own
const { setImmediate } = globalThis

/** The handler of undici's interceptor `redirect`. It sends each hop with itself as the handler. */
interface RedirectHandler {
  /** The URLs that were left. */
  readonly history: readonly URL[]
  /** Where the response leads that is being read, if that is to be followed. */
  readonly location: string | null | undefined
}

/** A request as it comes from a caller, or from the redirect before it. */
export interface Sent {
  readonly options: DispatchOptions
  readonly handler: AnyHandler
  readonly url: URL
  /** The API that the URL belongs to. */
  readonly api: Api | undefined
}

/** A request with a token that is redirected. */
interface Redirected {
  readonly chain: RedirectHandler | undefined
  readonly api: Api
  readonly targets: readonly string[]
  readonly pass: Pass
}

/**
 * Tells the hops of redirects from calls, and which of them take the token along: those of a call that has not left its
 * API.
 *
 * undici's `redirect` hands down its own handler with each hop, which is the mark of the chain. `fetch` hands down nothing
 * that leads from one hop to the next: it is asked whether it follows a redirect, where one is under way.
 */
export class Redirects {
  /** Of a chain of redirects the API whose token goes along, `undefined` once a hop has left it. */
  readonly #chains = new WeakMap<object, Api | undefined>()
  readonly #redirected = new Set<Redirected>()
  #fetchIsRedirected = false

  /** Returns the API whose token a request takes, and for a hop the pass of the request before it. */
  follow({ options, handler, url, api }: Sent): { readonly api: Api | undefined; readonly pass?: Pass } {
    const chain = redirectHandlerOf(handler) ?? handler
    const { history } = chain as Partial<RedirectHandler>
    const isHop = history
      ? history.length > 0
      : this.#chains.has(chain) || (this.#fetchIsRedirected && isFetch(options) && fetchIsFollowing())
    if (!isHop) {
      if (history) this.#chains.set(chain, api)
      return { api }
    }
    const before = [...this.#redirected].find((redirected) =>
      history ? redirected.chain === chain : redirected.targets.includes(url.href),
    )
    const taken = this.#chains.has(chain) ? this.#chains.get(chain) : before?.api
    const along = taken === api ? api : undefined
    this.#chains.set(chain, along)
    return along === undefined || before === undefined ? { api: along } : { api, pass: before.pass }
  }

  /**
   * Keeps the pass of a request for its next hop, if one is about to come.
   *
   * @returns `undefined` if none is; else what gives the pass back, to be called once the response has ended.
   */
  expect(
    { handler, options, url, api }: Sent & { readonly api: Api },
    status: number,
    { location }: ResponseHeaders,
    pass: Pass,
  ): (() => void) | undefined {
    const chain = redirectHandlerOf(handler)
    const isOfFetch = isFetch(options)
    if (!isRedirect(status) || location === undefined || !(isOfFetch || chain?.location)) return undefined
    const redirected = { chain, api, targets: targetsOf(String(location), url), pass }
    this.#redirected.add(redirected)
    const leave = (): void => {
      this.#redirected.delete(redirected)
      pass.release()
    }
    if (!isOfFetch) return leave
    this.#noteFetch(leave)
    return () => {}
  }

  /** Looks for a redirect of a request without a token: that of `fetch` may lead into an API. */
  watch({ options, handler }: Sent): void {
    if (!isFetch(options)) return
    // it makes a handler for each request
    for (const [name, at] of [
      ['onHeaders', 0],
      ['onResponseStart', 1],
    ] as const) {
      const tell = handler[name] as ((...told: unknown[]) => never) | undefined
      if (tell === undefined) continue
      handler[name] = (...told: unknown[]) => {
        if (isRedirect(Number(told[at]))) this.#noteFetch()
        return tell.apply(handler, told)
      }
    }
  }

  /** `fetch` sends the next hop before the turn of the event loop ends. */
  #noteFetch(end?: () => void): void {
    this.#fetchIsRedirected = true
    setImmediate(() => {
      this.#fetchIsRedirected = false
      end?.()
    })
  }
}

/** Returns the handler of undici's `redirect`. The interceptor `retry` keeps the handler that it was called with. */
function redirectHandlerOf(handler: AnyHandler): RedirectHandler | undefined {
  const { handler: inner } = handler as { readonly handler?: unknown }
  return [handler, inner].find(isRedirectHandler)
}

function isRedirectHandler(handler: unknown): handler is RedirectHandler {
  const has = (name: string): boolean => Object.hasOwn(Object(handler), name)
  return has('history') && has('maxRedirections')
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400
}
