import {
  checkCallOptions,
  copyOfFields,
  hasAuthorization,
  isReplayable,
  withToken,
  type CallOptions,
  type HeaderFields,
  type OutgoingCall,
} from '@tokenlane/core/adapter'

import { bodyNow } from './given-body.ts'
import { ownInit, type TokenlaneRequestInit } from './given-init.ts'

type FetchArguments = ReturnType<OutgoingCall['next']>

/** A call of `fetch` with a URL, which can be sent more than once. */
export class Call implements OutgoingCall {
  readonly hasOwnAuthorization: boolean
  readonly method: string
  readonly hasBody: boolean
  readonly replayable: boolean
  readonly followsRedirects: boolean
  readonly signal: AbortSignal | undefined
  readonly priority: number | undefined
  readonly resend: boolean | undefined
  readonly cost: CallOptions['cost']
  readonly client = 'fetch'
  readonly mustBeRight: (() => void) | undefined
  readonly init: RequestInit
  readonly #url: string
  readonly #fields: HeaderFields
  #sent = false

  /**
   * `url` is text, and `init` is copied: the caller may change what it gave while the call waits.
   *
   * @param isForeign whether another `fetch` than the runtime's sends it, which may take more.
   */
  constructor(url: string, given: TokenlaneRequestInit, isForeign: boolean) {
    if (typeof given !== 'object') void new Request(url, given)
    const { tokenlane, ...init } = ownInit(given)
    if (init.body) init.body = bodyNow(init.body)
    this.#url = url
    this.init = init
    this.#fields = copyOfFields(init.headers)
    this.hasOwnAuthorization = hasAuthorization(this.#fields)
    const { priority, resend, cost } = checkCallOptions(tokenlane)
    this.priority = priority
    this.resend = resend
    this.cost = cost
    const { method = 'GET' } = init
    this.method = /^(?:get|head|post|put|delete|options)$/i.test(method) ? method.toUpperCase() : method
    this.hasBody = (init.body ?? undefined) !== undefined
    this.replayable = isReplayable(init.body)
    this.followsRedirects = (init.redirect ?? 'follow') === 'follow'
    // `fetch` refuses what is not a signal
    const { signal } = init
    this.signal = typeof signal?.throwIfAborted === 'function' ? signal : undefined
    this.mustBeRight = isForeign ? undefined : () => this.#mustBeRight()
  }

  get url(): URL {
    return new URL(this.#url)
  }

  get headers(): Headers {
    return new Headers(this.#fields)
  }

  get stream(): unknown {
    return this.replayable ? undefined : this.init.body
  }

  /** @throws the TypeError with which the runtime's `fetch` rejects for these arguments. */
  #mustBeRight(): void {
    const { method } = this
    // a body that can be sent again is right in every method that takes one
    const takesBody = method !== 'GET' && method !== 'HEAD'
    const body = this.replayable && takesBody ? null : this.init.body
    this.#request({ ...this.init, headers: this.#fields, body: body ?? null })
  }

  next(authorization: string): FetchArguments {
    const init = { ...this.init, headers: withToken(this.#fields, authorization) } as RequestInit
    if (this.followsRedirects) init.redirect = 'manual'
    this.#sent = true
    return [this.#url, init]
  }

  body(): ReturnType<OutgoingCall['body']> {
    return this.init.body ?? null
  }

  failed(reason: unknown): void {
    if (this.#sent || this.replayable) return
    try {
      // made a request of and let go of, as `fetch` does with the body of a call that it does not send
      this.#request(this.init)
        .body?.cancel(reason)
        .catch(() => {})
    } catch {
      // it failed itself, or the caller has used it meanwhile
    }
  }

  /** Without the signal, on which a request leaves a listener. */
  #request(init: RequestInit): Request {
    if (this.signal === undefined) return new Request(this.#url, init)
    const { signal: _, ...rest } = init
    return new Request(this.#url, rest)
  }
}
