import type { Controller, Handler, ResponseHeaders } from './handler.ts'

/**
 * A handler in the words of undici 6. The `fetch` of Node 22 and 24 brings such a one, and the global dispatcher of
 * Node 22 takes no other.
 */
export interface OldHandler {
  onConnect?(abort: (reason?: unknown) => void, context?: unknown): void
  onUpgrade?(status: number, headers: readonly Uint8Array[], socket: unknown): void
  onResponseStarted?(): void
  onHeaders?(
    status: number,
    headers: readonly Uint8Array[],
    resume: () => void,
    message?: string,
  ): boolean | undefined
  onData?(chunk: Uint8Array): boolean | undefined
  onComplete?(trailers: readonly Uint8Array[]): void
  onError?(error: unknown): void
  onBodySent?(chunk: Uint8Array): void
  onRequestSent?(): void
}

export function isOld(handler: Handler | OldHandler): handler is OldHandler {
  return typeof (handler as Handler).onRequestStart !== 'function'
}

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

/** A handler in the words of undici 6, for a dispatcher that takes no other. */
export class ToOld implements OldHandler {
  readonly #handler: Handler
  #controller: OldController | undefined

  constructor(handler: Handler) {
    this.#handler = handler
  }

  onConnect(abort: (reason?: unknown) => void, context?: unknown): void {
    this.#controller = new OldController(abort)
    this.#handler.onRequestStart?.(this.#controller, context)
  }

  onUpgrade(status: number, headers: readonly Uint8Array[], socket: unknown): void {
    const controller = this.#controller as OldController
    controller.rawHeaders = headers
    this.#handler.onRequestUpgrade?.(controller, status, parsed(headers), socket)
  }

  onResponseStarted(): void {
    this.#handler.onResponseStarted?.()
  }

  onHeaders(status: number, headers: readonly Uint8Array[], resume: () => void, message?: string): boolean {
    const controller = this.#controller as OldController
    controller.rawHeaders = headers
    controller.onResume = resume
    this.#handler.onResponseStart?.(controller, status, parsed(headers), message)
    return !controller.paused
  }

  onData(chunk: Uint8Array): boolean {
    const controller = this.#controller as OldController
    this.#handler.onResponseData?.(controller, chunk)
    return !controller.paused
  }

  onComplete(trailers: readonly Uint8Array[] | null): void {
    const controller = this.#controller as OldController
    controller.rawTrailers = trailers
    this.#handler.onResponseEnd?.(controller, parsed(trailers ?? []))
  }

  onError(error: unknown): void {
    this.#handler.onResponseError?.(this.#controller ?? null, error)
  }

  onBodySent(chunk: Uint8Array): void {
    this.#handler.onBodySent?.(chunk)
  }

  onRequestSent(): void {
    this.#handler.onRequestSent?.()
  }
}

class OldController implements Controller {
  rawHeaders: unknown
  rawTrailers: unknown
  onResume: (() => void) | undefined
  aborted = false
  paused = false
  reason: unknown = null
  readonly #abort: (reason?: unknown) => void

  constructor(abort: (reason?: unknown) => void) {
    this.#abort = abort
  }

  abort(reason?: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.#abort(reason)
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    this.onResume?.()
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
