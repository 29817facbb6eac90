import type { Controller, Handler, OldHandler, ResponseHeaders } from './handler.ts'

/** An old handler, in the words of undici 7 and 8. Its headers have to be raw ones, which `ToOld` provides. */
export class FromOld implements Handler {
  readonly #old: OldHandler

  constructor(old: OldHandler) {
    this.#old = old
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#old.onConnect?.((reason) => controller.abort(reason), context)
  }

  onRequestUpgrade({ rawHeaders }: Controller, status: number, _: ResponseHeaders, socket: unknown): void {
    this.#old.onUpgrade?.(status, rawHeaders as Uint8Array[], socket)
  }

  onResponseStarted(): void {
    this.#old.onResponseStarted?.()
  }

  onResponseStart(controller: Controller, status: number, _: ResponseHeaders, message?: string): void {
    const resume = (): void => controller.resume()
    const goOn = this.#old.onHeaders?.(status, controller.rawHeaders as Uint8Array[], resume, message)
    if (goOn === false) controller.pause()
  }

  onResponseData(controller: Controller, chunk: Uint8Array): void {
    if (this.#old.onData?.(chunk) === false) controller.pause()
  }

  onResponseEnd({ rawTrailers }: Controller): void {
    this.#old.onComplete?.((rawTrailers ?? []) as Uint8Array[])
  }

  onResponseError(_: Controller | null, error: unknown): void {
    this.#old.onError?.(error)
  }

  onBodySent(chunk: Uint8Array): void {
    this.#old.onBodySent?.(chunk)
  }

  onRequestSent(): void {
    this.#old.onRequestSent?.()
  }
}

/** A handler in the words of undici 6, for a dispatcher that takes no other; and what the new one steers its request with. */
export class ToOld implements OldHandler, Controller {
  aborted = false
  paused = false
  reason: unknown = null
  rawHeaders: unknown
  rawTrailers: unknown
  readonly #handler: Handler
  #abort: ((reason?: unknown) => void) | undefined
  #resume: (() => void) | undefined

  constructor(handler: Handler) {
    this.#handler = handler
  }

  abort(reason?: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.#abort?.(reason)
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    this.#resume?.()
  }

  onConnect(abort: (reason?: unknown) => void, context?: unknown): void {
    this.#abort = abort
    this.#handler.onRequestStart?.(this, context)
  }

  onUpgrade(status: number, headers: readonly Uint8Array[], socket: unknown): void {
    this.rawHeaders = headers
    this.#handler.onRequestUpgrade?.(this, status, parsed(headers), socket)
  }

  onResponseStarted(): void {
    this.#handler.onResponseStarted?.()
  }

  onHeaders(status: number, headers: readonly Uint8Array[], resume: () => void, message?: string): boolean {
    this.rawHeaders = headers
    this.#resume = resume
    this.#handler.onResponseStart?.(this, status, parsed(headers), message)
    return !this.paused
  }

  onData(chunk: Uint8Array): boolean {
    this.#handler.onResponseData?.(this, chunk)
    return !this.paused
  }

  onComplete(trailers: readonly Uint8Array[] | null): void {
    this.rawTrailers = trailers
    this.#handler.onResponseEnd?.(this, parsed(trailers ?? []))
  }

  onError(error: unknown): void {
    this.#handler.onResponseError?.(this.#abort ? this : null, error)
  }

  onBodySent(chunk: Uint8Array): void {
    this.#handler.onBodySent?.(chunk)
  }

  onRequestSent(): void {
    this.#handler.onRequestSent?.()
  }
}

/** Returns headers by their lower-case names. */
function parsed(raw: readonly Uint8Array[]): ResponseHeaders {
  const headers: Record<string, string | string[]> = Object.create(null)
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = latin1(raw[at]).toLowerCase()
    const value = latin1(raw[at + 1])
    const before = headers[name]
    headers[name] = before === undefined ? value : [before, value].flat()
  }
  return headers
}

function latin1(bytes: unknown): string {
  return typeof bytes === 'string' ? bytes : Buffer.from(bytes as Uint8Array).toString('latin1')
}
