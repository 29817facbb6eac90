import type { Readable } from 'node:stream'

import { checkCallOptions, isReplayable, mustKeepFloor, type Api, type Pass } from '@tokenlane/core/adapter'

import { CallController } from './call-controller.ts'
import { isAborted, listenForEnd } from './end-of-wait.ts'
import { isFetch } from './fetch.ts'
import type { Controller, Dispatch, DispatchOptions, Handler, ResponseHeaders } from './handler.ts'
import { withToken } from './headers.ts'
import { refuseOldTls } from './tls.ts'
import { UnwantedBody } from './unwanted-body.ts'

/** How a call of undici is sent. */
export interface ManagedCallOptions {
  readonly api: Api
  readonly handler: Handler
  readonly send: Dispatch
  /** Keeps the pass for the next hop of a redirect, and returns what gives it back; `undefined` if no hop will come. */
  readonly keepPass: (status: number, headers: ResponseHeaders, pass: Pass) => (() => void) | undefined
}

/**
 * Where a call stands.
 *
 * | state    | it has                              | what leads out of it                                                      |
 * | -------- | ----------------------------------- | ------------------------------------------------------------------------- |
 * | waiting  | a wait that can be ended            | the pass comes: sent. The wait fails: over                                |
 * | sent     | a pass, an attempt at undici        | a response that asks for one more attempt: unwanted. A redirect: moved    |
 * | unwanted | a pass, a body that nobody gets     | the end of that body: waiting, for the pass of the next attempt           |
 * | moved    | a pass, which the next hop may take | the end of the response: over                                             |
 * | over     | no pass                             | nothing: what undici still tells goes to the caller                       |
 *
 * Any other response, and every error, leads to over.
 */
type State =
  | { readonly name: 'waiting' | 'over' }
  | { readonly name: 'sent'; readonly pass: Pass }
  | { readonly name: 'unwanted'; readonly pass: Pass; readonly body: UnwantedBody }
  | { readonly name: 'moved'; readonly leave: () => void }

/**
 * One call of undici to an API: waits for a pass, sends, and after a 401 lets go of the response and sends again.
 * It is undici's handler of each attempt, and shows the caller's handler one request.
 */
export class ManagedCall implements Handler {
  #state: State = { name: 'waiting' }
  #options: DispatchOptions
  readonly #tokenlane: unknown
  readonly #call: ManagedCallOptions
  readonly #wait = new AbortController()
  readonly #controller = new CallController((reason) => this.#wait.abort(reason))
  /** Whether the caller's handler knows of its request. */
  #isStarted = false

  constructor({ tokenlane, ...options }: DispatchOptions, call: ManagedCallOptions) {
    this.#options = options
    this.#tokenlane = tokenlane
    this.#call = call
    // until undici takes the request, it is to see what is wrong with the caller's handler: undici 8 refuses it, 7 does not
    for (const name of checked) {
      const method = call.handler[name]
      if (typeof method !== 'function' && (method !== undefined || !optional.has(name)))
        Object.defineProperty(this, name, { value: method, configurable: true })
    }
  }

  /**
   * @param redirected the pass of the request that was redirected to this one.
   * @returns what `dispatch` returns.
   */
  begin(redirected: Pass | undefined): boolean {
    const startEarly = (): void => this.#startEarly()
    if (isAborted(this.#options)) startEarly()
    let admitted: Pass | Promise<Pass>
    try {
      admitted = this.#admit(redirected)
    } catch (error) {
      this.#fail(null, error)
      return false
    }
    if (!(admitted instanceof Promise)) return this.#send(admitted)
    const failed = (error: unknown): void => this.#wait.abort(error)
    const stop = listenForEnd(this.#options, { aborted: startEarly, failed })
    // `fetch` hands down no signal
    if (isFetch(this.#options)) startEarly()
    this.#sendAfter(admitted, stop)
    return true
  }

  #admit(redirected: Pass | undefined): Pass | Promise<Pass> {
    const { api } = this.#call
    const { method, body } = this.#options
    const { priority, resend } = checkCallOptions(this.#tokenlane)
    mustKeepFloor(api.baseUrl)
    const asked = {
      client: 'undici',
      method,
      priority,
      resend,
      get replayable() {
        return isReplayable(body) || wasEmpty(body)
      },
      signal: this.#wait.signal,
    }
    return redirected === undefined ? api.admit(asked) : redirected.follow(asked)
  }

  #sendAfter(admitted: Promise<Pass>, stop?: () => void): void {
    admitted
      .then((pass) => void this.#send(pass))
      .catch((error: unknown) => {
        // else thrown by the caller's handler as it was told of its failure
        if (this.#state.name === 'over') throw error
        this.#fail(null, error)
      })
      .finally(stop)
      .catch((thrown: unknown) => {
        // as what a handler throws in a callback of a connection
        queueMicrotask(() => {
          throw thrown
        })
      })
  }

  #send(pass: Pass): boolean {
    this.#state = { name: 'sent', pass }
    // it may have aborted since the pass came
    this.#wait.signal.throwIfAborted()
    const headers = withToken(this.#options.headers, pass.authorization)
    try {
      return this.#call.send({ ...this.#options, headers }, this)
    } catch (error) {
      pass.release(error)
      throw withoutToken(error, pass)
    }
  }

  onRequestStart(attempt: Controller, context: unknown): void {
    for (const name of checked) Reflect.deleteProperty(this, name)
    if (this.#state.name === 'sent') this.#state.pass.sent()
    this.#controller.lead(attempt)
    this.#start(context)
    if (!this.#controller.aborted)
      refuseOldTls(this.#call.api.baseUrl, (error) => this.#controller.abort(error))
  }

  onResponseStarted(): void {
    this.#call.handler.onResponseStarted?.()
  }

  onResponseStart(attempt: Controller, status: number, headers: ResponseHeaders, message?: string): void {
    const { handler, keepPass } = this.#call
    const pass = status >= 200 && this.#state.name === 'sent' ? this.#state.pass : undefined
    if (pass !== undefined && report(pass, status, headers) === 'again') {
      this.#state = { name: 'unwanted', pass, body: new UnwantedBody(attempt) }
      return
    }
    try {
      handler.onResponseStart?.(this.#controller, status, headers, message)
    } finally {
      if (pass !== undefined) {
        const leave = keepPass(status, headers, pass)
        this.#state = leave === undefined ? { name: 'over' } : { name: 'moved', leave }
        if (leave === undefined) pass.release()
      }
    }
  }

  onResponseData(_: Controller, chunk: Uint8Array): void {
    if (this.#state.name === 'unwanted') this.#state.body.count(chunk)
    else this.#call.handler.onResponseData?.(this.#controller, chunk)
  }

  onResponseEnd(_: Controller, trailers: ResponseHeaders): void {
    const state = this.#state
    if (state.name === 'unwanted') return this.#goAgain(state)
    try {
      this.#call.handler.onResponseEnd?.(this.#controller, trailers)
    } finally {
      if (state.name === 'moved') state.leave()
    }
  }

  onResponseError(attempt: Controller | null, error: unknown): void {
    if (this.#state.name === 'unwanted' && !this.#controller.aborted) this.#goAgain(this.#state)
    else this.#fail(attempt, error)
  }

  onBodySent(chunk: Uint8Array): void {
    this.#call.handler.onBodySent?.(chunk)
  }

  onRequestSent(): void {
    this.#call.handler.onRequestSent?.()
  }

  /** Tells the caller's handler of its request, once for all attempts. */
  #start(context: unknown): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#call.handler.onRequestStart?.(this.#controller, context)
  }

  /** Lets the caller's handler abort what waits. It has the signal, and knows its reason. */
  #startEarly(): void {
    try {
      this.#start({})
    } catch (error) {
      this.#controller.abort(error)
    }
  }

  #goAgain({ pass, body }: Extract<State, { readonly name: 'unwanted' }>): void {
    body.end()
    this.#state = { name: 'waiting' }
    this.#controller.lead(undefined)
    // a stream that held nothing, as that of a `pipeline` without a body
    if (!isReplayable(this.#options.body)) this.#options = { ...this.#options, body: null }
    this.#sendAfter(pass.next())
  }

  #fail(attempt: Controller | null, error: unknown): void {
    const state = this.#state
    this.#state = { name: 'over' }
    if (state.name === 'unwanted') state.body.end()
    if (state.name === 'moved') state.leave()
    if ('pass' in state) state.pass.release(error)
    const shown = 'pass' in state ? withoutToken(error, state.pass) : error
    this.#call.handler.onResponseError?.(this.#isStarted ? this.#controller : attempt, shown)
  }
}

/** Methods of a handler for which undici 8 looks. */
const checked = [
  'onResponseStart',
  'onResponseData',
  'onResponseEnd',
  'onResponseError',
  'onBodySent',
  'onRequestSent',
] as const
const optional = new Set<string>(['onBodySent', 'onRequestSent'])

/** Whether a body is a Node stream that has ended without a byte. */
function wasEmpty(body: unknown): boolean {
  const { readableEnded, readableDidRead } = body as Partial<Readable>
  return readableEnded === true && readableDidRead === false
}

function report(pass: Pass, status: number, headers: ResponseHeaders): 'final' | 'again' {
  return pass.report({
    status,
    header(name) {
      const value = headers[name]
      return typeof value === 'object' ? value.join(', ') : value
    },
  })
}

/** Takes the token out of an error. A `MockAgent` shows the headers of a request that it does not expect. */
function withoutToken(error: unknown, { authorization }: Pass): unknown {
  if (error instanceof Error && error.message.includes(authorization)) {
    const { message, stack } = error
    error.message = message.replaceAll(authorization, '[redacted]')
    if (stack !== undefined) error.stack = stack.replaceAll(authorization, '[redacted]')
  }
  return error
}
