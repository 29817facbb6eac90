import type { Readable } from 'node:stream'

import {
  checkCallOptions,
  isReplayable,
  type AdmitOptions,
  type Api,
  type Pass,
} from '@tokenlane/core/adapter'

import { CallController } from './call-controller.ts'
import type { Controller, Dispatch, DispatchOptions, Handler, ResponseHeaders } from './handler.ts'
import { copyOf, withToken } from './header-fields.ts'
import { refuseOldTls } from './tls.ts'
import { UnwantedBody } from './unwanted-body.ts'

/** How a call of undici is sent. */
export interface ManagedCallOptions {
  readonly api: Api
  /** Whether the call follows a redirect. */
  readonly sentBefore: boolean
  /** The path to send. */
  readonly path: string
  readonly handler: Handler
  readonly dispatch: Dispatch
  /** Throws for a dispatcher that must not carry the token. */
  readonly mustBeSecure: (url: string) => void
}

/**
 * One call of undici to an API: waits for a pass, sends, and after a 401 lets go of the response and sends once more.
 * It is undici's handler of each attempt, and shows the caller's handler one request.
 */
export class ManagedCall implements Handler {
  #options: DispatchOptions
  readonly #tokenlane: unknown
  readonly #call: ManagedCallOptions
  readonly #controller = new CallController((reason) => this.#fail(reason))
  /** Filled by undici once the request begins. */
  readonly #context = {}
  #pass: Pass | undefined
  /** The body of a response that the caller does not get. */
  #unwanted: UnwantedBody | undefined
  /** Whether the caller has what ends its call. */
  #isOver = false

  constructor({ tokenlane, ...options }: DispatchOptions, call: ManagedCallOptions) {
    this.#options = { ...options, path: call.path, headers: copyOf(options.headers) }
    this.#call = call
    this.#tokenlane = tokenlane
  }

  async begin(): Promise<void> {
    const { handler, api, sentBefore, mustBeSecure } = this.#call
    const { method, body } = this.#options
    try {
      // at once, so that the caller can abort while it waits
      handler.onRequestStart?.(this.#controller, this.#context)
      if (this.#isOver) return
      const { priority, resend } = checkCallOptions(this.#tokenlane)
      mustBeSecure(api.baseUrl)
      const asked: AdmitOptions = {
        client: 'undici',
        method,
        priority,
        resend,
        sentBefore,
        get replayable() {
          return isReplayable(body) || wasEmpty(body)
        },
        waitSignal: () => this.#controller.waitSignal(),
      }
      const admitted = api.admitNow(asked)
      // at once where nothing is to be waited for
      this.#send(admitted instanceof Promise ? await admitted : admitted)
    } catch (error) {
      this.#fail(error)
    }
  }

  async #sendAgain(pass: Pass): Promise<void> {
    try {
      this.#send(await pass.next())
    } catch (error) {
      this.#fail(error)
    }
  }

  #send(pass: Pass): void {
    if (this.#isOver) return pass.release(this.#controller.reason)
    this.#pass = pass
    const headers = withToken(this.#options.headers, pass.authorization)
    pass.sent()
    this.#call.dispatch({ ...this.#options, headers }, this)
  }

  onRequestStart(attempt: Controller, context: unknown): void {
    if (typeof context === 'object') Object.assign(this.#context, context)
    this.#controller.begin(attempt)
    if (!this.#controller.aborted)
      refuseOldTls(this.#call.api.baseUrl, (error) => this.#controller.abort(error))
  }

  onResponseStarted(): void {
    this.#call.handler.onResponseStarted?.()
  }

  onResponseStart(attempt: Controller, status: number, headers: ResponseHeaders, message?: string): void {
    const pass = this.#pass
    if (this.#isOver) return
    if (status >= 200 && pass !== undefined) {
      if (report(pass, status, headers) === 'again') {
        this.#unwanted = new UnwantedBody(attempt)
        return
      }
    }
    this.#call.handler.onResponseStart?.(this.#controller, status, headers, message)
    if (status < 200) return
    // only now: a redirect keeps the manager open
    pass?.release()
    this.#pass = undefined
  }

  onResponseData(_: Controller, chunk: Uint8Array): void {
    if (this.#unwanted) this.#unwanted.count(chunk)
    else this.#call.handler.onResponseData?.(this.#controller, chunk)
  }

  onResponseEnd(_: Controller, trailers: ResponseHeaders): void {
    if (this.#unwanted) this.#goAgain(this.#unwanted)
    else this.#call.handler.onResponseEnd?.(this.#controller, trailers)
  }

  onResponseError(_: Controller | null, error: unknown): void {
    if (this.#unwanted && !this.#controller.aborted) this.#goAgain(this.#unwanted)
    else this.#fail(error)
  }

  onBodySent(chunk: Uint8Array): void {
    this.#call.handler.onBodySent?.(chunk)
  }

  onRequestSent(): void {
    this.#call.handler.onRequestSent?.()
  }

  #goAgain(unwanted: UnwantedBody): void {
    unwanted.end()
    this.#unwanted = undefined
    this.#controller.end()
    // a stream that held nothing, as that of a `pipeline` without a body
    if (!isReplayable(this.#options.body)) this.#options = { ...this.#options, body: null }
    if (this.#pass !== undefined) void this.#sendAgain(this.#pass)
  }

  #fail(error: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#unwanted?.end()
    this.#pass?.release(error)
    this.#call.handler.onResponseError?.(this.#controller, error)
  }
}

/** Whether a body is a Node stream that has ended without a byte. */
function wasEmpty(body: unknown): boolean {
  const { readableEnded, readableDidRead } = body as Partial<Readable>
  return readableEnded === true && readableDidRead === false
}

function report(pass: Pass, status: number, headers: ResponseHeaders): 'final' | 'again' {
  const header = (name: string): string | undefined => {
    const value = headers[name]
    return typeof value === 'object' ? value.join(', ') : value
  }
  return pass.report({
    status,
    retryAfter: header('retry-after'),
    wwwAuthenticate: header('www-authenticate'),
    header,
  })
}
