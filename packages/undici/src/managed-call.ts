import type { Readable } from 'node:stream'

import {
  checkCallOptions,
  isClosed,
  isReplayable,
  mustKeepFloor,
  TokenlaneError,
  watchBody,
  type Api,
  type Pass,
  type WaitingBody,
} from '@tokenlane/core/adapter'

import { CallController, requestAborted } from './call-controller.ts'
import type { Controller, Dispatch, DispatchOptions, Handler, ResponseHeaders } from './handler.ts'
import { hideDefects, showDefects } from './defects.ts'
import { withToken } from './headers.ts'
import { refuseOldTls } from './tls.ts'
import { UnwantedResponse } from './unwanted-response.ts'

const { AsyncResource } = process.getBuiltinModule('node:async_hooks')

export interface ManagedCallOptions {
  readonly api: Api
  readonly handler: Handler
  readonly dispatch: Dispatch
  readonly expect: (status: number, headers: ResponseHeaders, pass: Pass) => (() => void) | undefined
}

/** Where a call stands: it waits for a pass, is sent with it, has a response that nobody gets before it waits again, or failed. */
type State =
  | { readonly name: 'waiting' | 'failed' }
  | { readonly name: 'sent'; readonly pass: Pass }
  | { readonly name: 'unwanted'; readonly pass: Pass; readonly response: UnwantedResponse }

/** One call of undici to an API. It is undici's handler of each attempt, and shows the caller's handler one request. */
export class ManagedCall implements Handler {
  #state: State = { name: 'waiting' }
  #options: DispatchOptions
  readonly #tokenlane: unknown
  readonly #call: ManagedCallOptions
  readonly #wait = new AbortController()
  /** Ends the waiting for the next hop, where the response leads to one. */
  #leave: (() => void) | undefined
  readonly #controller = new CallController((reason) => this.#wait.abort(reason))
  /** Runs in the caller's async context what a response sets off, which comes in that of its connection: observers, too. */
  readonly #caller = new AsyncResource('TokenlaneCall')
  #body: WaitingBody | undefined
  /** What the caller's handler was told with its request, which it knows of then. */
  #context: object | undefined
  #isAttemptStarted = false

  /** @param options a copy of the caller's. */
  constructor(options: DispatchOptions, call: ManagedCallOptions) {
    this.#options = options
    this.#call = call
    // most calls have none, and to copy all but one option takes long
    if (options.tokenlane !== undefined) ({ tokenlane: this.#tokenlane, ...this.#options } = options)
  }

  /**
   * @param redirected the pass of the request that was redirected to this one.
   * @returns what `dispatch` returns.
   */
  begin(redirected: Pass | undefined): boolean {
    const { handler } = this.#call
    if (typeof handler.onResponseError !== 'function') this.#refuseAtOnce()
    if (this.#options.signal?.aborted === true) this.#startEarly()
    let admitted: Pass | Promise<Pass>
    try {
      admitted = this.#admit(redirected)
    } catch (error) {
      this.#fail(null, error)
      return false
    }
    showDefects(handler, this)
    if (!(admitted instanceof Promise)) return this.#send(admitted)
    // the caller's handler has the signal, and can abort what it knows of
    this.#startEarly()
    this.#sendAfter(admitted, (error) => {
      const death = this.#body?.death
      this.#fail(null, death === undefined ? error : (death.error ?? requestAborted()))
    })
    return true
  }

  /** Lets undici 8 refuse a handler that cannot hear of a failure: it throws. undici 7 takes it, and sends nothing here. */
  #refuseAtOnce(): void {
    const { handler, dispatch } = this.#call
    const probe: Handler = { ...handler, onRequestStart: (controller: Controller) => controller.abort() }
    dispatch({ ...this.#options, body: null }, probe)
    probe.onResponseError = () => {}
  }

  #admit(redirected: Pass | undefined): Pass | Promise<Pass> {
    const { api } = this.#call
    const { origin = api.baseUrl, path, method, body } = this.#options
    const { priority, resend, cost } = checkCallOptions(this.#tokenlane)
    mustKeepFloor(api.baseUrl)
    this.#body = watchBody(body, this.#wait.signal)
    const { signal } = this.#body
    const url = (): URL => new URL(path, origin)
    const replayable = isReplayable(body)
    const asked = { client: 'undici', method, priority, resend, cost, signal, url, replayable }
    // a stream may turn out to hold nothing
    if (!replayable) Object.defineProperty(asked, 'replayable', { get: () => wasEmpty(body) })
    return redirected === undefined ? api.admit(asked) : redirected.follow(asked)
  }

  /** @param refuse tells the caller that the pass does not come. */
  #sendAfter(admitted: Promise<Pass>, refuse: (error: unknown) => void): void {
    admitted
      .then((pass) => this.#send(pass))
      .catch((error: unknown) => {
        // else thrown by the caller's handler as it was told of its failure
        if (this.#state.name === 'failed') throw error
        refuse(error)
      })
      .catch((thrown: unknown) => {
        // as what a handler throws in a callback of a connection
        queueMicrotask(() => {
          throw thrown
        })
      })
  }

  #send(pass: Pass): boolean {
    this.#state = { name: 'sent', pass }
    this.#isAttemptStarted = false
    this.#body?.release()
    // it may have aborted since the pass came
    this.#wait.signal.throwIfAborted()
    const headers = withToken(this.#options.headers, pass.authorization)
    try {
      return this.#call.dispatch({ ...this.#options, headers }, this)
    } catch (error) {
      pass.release(withoutToken(error, pass))
      throw error
    }
  }

  onRequestStart(attempt: Controller, context: unknown): void {
    hideDefects(this.#call.handler, this)
    // undici's `redirect`, beneath, tells which URLs it has left; its `SnapshotAgent` tells none
    if (Array.isArray((Object(context) as { history?: unknown }).history)) return attempt.abort(wrongOrder())
    if (this.#state.name === 'sent') this.#state.pass.sent()
    this.#controller.lead(attempt)
    // undici tells it again of a pipelined request that it starts anew
    if (this.#isAttemptStarted) this.#context = undefined
    this.#isAttemptStarted = true
    this.#start(context)
    if (!this.#controller.aborted) refuseOldTls(this.#call.api.baseUrl, attempt)
  }

  onResponseStarted(): void {
    this.#call.handler.onResponseStarted?.()
  }

  onResponseStart(attempt: Controller, status: number, headers: ResponseHeaders, message?: string): void {
    const pass = status >= 200 && this.#state.name === 'sent' ? this.#state.pass : undefined
    if (pass !== undefined && this.#caller.runInAsyncScope(report, null, pass, status, headers) === 'again') {
      const show = this.#show.bind(this, attempt, status, headers, message)
      this.#state = { name: 'unwanted', pass, response: new UnwantedResponse(attempt, show) }
      return
    }
    try {
      this.#show(attempt, status, headers, message)
    } finally {
      this.#leave = pass && this.#caller.runInAsyncScope(this.#call.expect, null, status, headers, pass)
    }
  }

  #show(attempt: Controller, status: number, headers: ResponseHeaders, message?: string): void {
    this.#controller.rawHeaders = attempt.rawHeaders ?? null
    this.#call.handler.onResponseStart?.(this.#controller, status, headers, message)
  }

  onResponseData(_: Controller, chunk: Buffer): void {
    if (this.#state.name === 'unwanted') this.#state.response.add(chunk)
    else this.#call.handler.onResponseData?.(this.#controller, chunk)
  }

  onResponseEnd(attempt: Controller, trailers: ResponseHeaders): void {
    const state = this.#state
    if (state.name === 'unwanted') return this.#replace(state, this.#end.bind(this, attempt, trailers))
    try {
      this.#end(attempt, trailers)
    } finally {
      if (this.#leave) this.#caller.runInAsyncScope(this.#leave)
    }
  }

  #end(attempt: Controller, trailers: ResponseHeaders): void {
    this.#controller.rawTrailers = attempt.rawTrailers ?? null
    this.#call.handler.onResponseEnd?.(this.#controller, trailers)
  }

  onResponseError(attempt: Controller | null, error: unknown): void {
    const state = this.#state
    if (this.#controller.aborted) return this.#fail(attempt, error)
    const end = (): never => {
      throw error
    }
    if (state.name === 'unwanted') return this.#replace(state, end)
    if (
      state.name === 'sent' &&
      this.#caller.runInAsyncScope(reportError, null, state.pass, error) === 'again'
    )
      return this.#goAgain(state.pass, () => this.#fail(null, error))
    this.#fail(attempt, error)
  }

  onBodySent(chunk: Buffer): void {
    this.#call.handler.onBodySent?.(chunk)
  }

  onRequestSent(): void {
    this.#call.handler.onRequestSent?.()
  }

  /** Tells the caller's handler of its request, once for all attempts. It keeps the context, to which later ones add. */
  #start(context: unknown): void {
    if (this.#context !== undefined) return void Object.assign(this.#context, context)
    this.#context = Object(context)
    this.#call.handler.onRequestStart?.(this.#controller, context)
  }

  #startEarly(): void {
    try {
      this.#start({})
    } catch (error) {
      this.#controller.abort(error)
    }
  }

  /** @param end ends the response for the caller, who gets it after all if the manager closes before the next attempt. */
  #replace({ pass, response }: State & { readonly name: 'unwanted' }, end: () => void): void {
    response.end()
    this.#goAgain(pass, () => response.giveTo(this.#call.handler, this.#controller, end))
  }

  /** @param giveUp gives the caller what the attempt came to, if the manager closes before the next one. */
  #goAgain(pass: Pass, giveUp: () => void): void {
    this.#state = { name: 'waiting' }
    this.#controller.lead(undefined)
    // a stream that held nothing, as that of a `pipeline` without a body
    if (!isReplayable(this.#options.body)) this.#options = { ...this.#options, body: null }
    const refuse = (error: unknown): void => (isClosed(error) ? giveUp() : this.#fail(null, error))
    this.#caller.runInAsyncScope(() => this.#sendAfter(pass.next(), refuse))
  }

  #fail(attempt: Controller | null, error: unknown): void {
    const state = this.#state
    this.#state = { name: 'failed' }
    this.#body?.abandon()
    if (state.name === 'unwanted') state.response.end()
    this.#caller.runInAsyncScope(() => {
      this.#leave?.()
      if ('pass' in state) state.pass.release(withoutToken(error, state.pass))
    })
    this.#call.handler.onResponseError?.(this.#context ? this.#controller : attempt, error)
  }
}

function wrongOrder(): TokenlaneError {
  return new TokenlaneError(
    'INVALID_OPTIONS',
    "Cannot send call: undici's `redirect` is listed before `tokensInterceptor` in `compose`, and would take the token along wherever it leads; list it after",
  )
}

/** Whether a body is a Node stream that has ended without a byte. */
function wasEmpty(body: unknown): boolean {
  const { readableEnded, readableDidRead } = body as Partial<Readable>
  return readableEnded === true && readableDidRead === false
}

function report(pass: Pass, status: number, headers: ResponseHeaders): 'final' | 'again' {
  return pass.report({ status, header: (name) => headers[name] && [headers[name]].flat().join(', ') })
}

/** Judges a response of which an interceptor beneath, such as `responseError`, has made an error. */
function reportError(pass: Pass, error: unknown): 'final' | 'again' | undefined {
  const { statusCode, headers } = Object(error) as { statusCode?: unknown; headers?: ResponseHeaders }
  return typeof statusCode === 'number' && headers ? report(pass, statusCode, headers) : undefined
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
