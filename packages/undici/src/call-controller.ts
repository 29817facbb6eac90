import type { Controller } from './handler.ts'

/**
 * What the caller's handler steers its call with, from the first wait to the last attempt. Each attempt has a controller
 * of undici's own, which it stands for.
 */
export class CallController implements Controller {
  /** Of the attempt under way. */
  #attempt: Controller | undefined
  readonly #wait = new AbortController()
  readonly #onAbort: (reason: unknown) => void
  #isPaused = false

  /** @param onAbort runs for a call that is aborted while undici has no attempt of it. */
  constructor(onAbort: (reason: unknown) => void) {
    this.#onAbort = onAbort
  }

  /** Ends the waits of the call. */
  get signal(): AbortSignal {
    return this.#wait.signal
  }

  get aborted(): boolean {
    return this.#wait.signal.aborted
  }

  get reason(): unknown {
    return this.aborted ? this.#wait.signal.reason : null
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
    if (this.aborted) attempt.abort(this.reason)
    else if (this.#isPaused) attempt.pause()
  }

  /** The call waits again. */
  end(): void {
    this.#attempt = undefined
  }

  abort(reason?: unknown): void {
    if (this.aborted) return
    const attempt = this.#attempt
    this.#wait.abort(reason ?? requestAborted())
    if (attempt === undefined) this.#onAbort(this.reason)
    else attempt.abort(reason)
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
