import type { Controller } from './handler.ts'

/**
 * What the caller's handler steers its call with, through all attempts. Each attempt has a controller of undici's own,
 * to which this one leads.
 */
export class CallController implements Controller {
  aborted = false
  reason: unknown = null
  #attempt: Controller | undefined
  #isPaused = false
  readonly #onAbort: (reason: unknown) => void

  /** @param onAbort runs for a call that is aborted while undici has no attempt of it. */
  constructor(onAbort: (reason: unknown) => void) {
    this.#onAbort = onAbort
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

  /** @param attempt `undefined` while the call waits for the next one. */
  lead(attempt: Controller | undefined): void {
    this.#attempt = attempt
    if (this.aborted) attempt?.abort(this.reason)
    else if (this.#isPaused) attempt?.pause()
  }

  abort(reason?: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    if (this.#attempt) this.#attempt.abort(reason)
    else this.#onAbort(reason ?? requestAborted())
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

/**
 * Returns an error that is undici's own `RequestAbortedError` by `instanceof`, which undici makes where an attempt is
 * aborted without a reason.
 */
function requestAborted(): Error {
  const error = Object.assign(new Error('Request aborted'), { code: 'UND_ERR_ABORTED' })
  Object.defineProperty(error, 'name', { value: 'AbortError' })
  for (const code of ['UND_ERR', 'UND_ERR_ABORT', 'UND_ERR_ABORTED'])
    Object.defineProperty(error, Symbol.for(`undici.error.${code}`), { value: true })
  return error
}
