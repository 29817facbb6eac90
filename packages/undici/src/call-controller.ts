import type { Controller } from './handler.ts'

/** What the caller's handler steers its call with, also while undici has no attempt of it. */
export class CallController implements Controller {
  aborted = false
  paused = false
  reason: Error | null = null
  rawHeaders: NonNullable<Controller['rawHeaders']> | null = null
  rawTrailers: NonNullable<Controller['rawTrailers']> | null = null
  #attempt: Controller | undefined
  readonly #onAbort: (reason: unknown) => void

  /** @param onAbort runs for a call that is aborted while undici has no attempt of it. */
  constructor(onAbort: (reason: unknown) => void) {
    this.#onAbort = onAbort
  }

  /** @param attempt `undefined` while the call waits for the next one. */
  lead(attempt: Controller | undefined): void {
    this.#attempt = attempt
    if (this.aborted) attempt?.abort(this.reason)
    else if (this.paused) attempt?.pause()
  }

  abort(reason?: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason as Error
    if (this.#attempt) this.#attempt.abort(reason)
    else this.#onAbort(reason ?? requestAborted())
  }

  pause(): void {
    this.paused = true
    this.#attempt?.pause()
  }

  resume(): void {
    this.paused = false
    this.#attempt?.resume()
  }
}

/** Returns what undici makes for an attempt that is aborted without a reason: its `RequestAbortedError`, by `instanceof`. */
export function requestAborted(): Error {
  const error = Object.assign(new Error('Request aborted'), { name: 'AbortError', code: 'UND_ERR_ABORTED' })
  for (const code of ['UND_ERR', 'UND_ERR_ABORT', 'UND_ERR_ABORTED'])
    Object.defineProperty(error, Symbol.for(`undici.error.${code}`), { value: true })
  return error
}
