import type { Controller } from './handler.ts'

/**
 * What the caller's handler steers its call with, from the first wait to the last attempt. Each attempt has a controller
 * of undici's own, which it stands for.
 */
export class CallController implements Controller {
  /** Of the attempt under way. */
  #attempt: Controller | undefined
  #wait: AbortController | undefined
  readonly #onAbort: (reason: unknown) => void
  #isPaused = false
  #isAborted = false
  #reason: unknown = null

  /** @param onAbort runs for a call that is aborted while undici has no attempt of it. */
  constructor(onAbort: (reason: unknown) => void) {
    this.#onAbort = onAbort
  }

  /** Returns the signal that ends the waits of the call. */
  waitSignal(): AbortSignal {
    this.#wait ??= new AbortController()
    return this.#wait.signal
  }

  get aborted(): boolean {
    return this.#isAborted
  }

  get reason(): unknown {
    return this.#reason
  }

  get paused(): boolean {
    return this.#isPaused
  }

  get rawHeaders(): unknown {
    return this.#attempt?.rawHeaders
  }

  set rawHeaders(value: unknown) {
    if (this.#attempt) this.#attempt.rawHeaders = value
  }

  get rawTrailers(): unknown {
    return this.#attempt?.rawTrailers
  }

  set rawTrailers(value: unknown) {
    if (this.#attempt) this.#attempt.rawTrailers = value
  }

  begin(attempt: Controller): void {
    this.#attempt = attempt
    if (this.#isAborted) attempt.abort(this.#reason)
    else if (this.#isPaused) attempt.pause()
  }

  /** The call waits again. */
  end(): void {
    this.#attempt = undefined
  }

  abort(reason?: unknown): void {
    if (this.#isAborted) return
    this.#isAborted = true
    this.#reason = reason ?? requestAborted()
    if (this.#attempt) return this.#attempt.abort(reason)
    this.#wait?.abort(this.#reason)
    this.#onAbort(this.#reason)
  }

  pause(): void {
    this.#isPaused = true
    this.#attempt?.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#attempt?.resume()
  }
}

/** As undici's own `RequestAbortedError`, for an abort without a reason. */
function requestAborted(): Error {
  return Object.assign(new Error('Request aborted'), { name: 'AbortError', code: 'UND_ERR_ABORTED' })
}
