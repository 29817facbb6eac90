// The parts of undici that a call touches, for undici 7 and 8 alike. The package imports no undici: a second copy may
// replace the global dispatcher of the first.

/** What undici takes as headers: an object, names and values in turn, or pairs. */
export type Headers =
  | Readonly<Record<string, unknown>>
  | readonly unknown[]
  | Iterable<readonly [unknown, unknown]>
  | null
  | undefined

/** What `dispatch` takes, as far as it is looked at. */
export interface DispatchOptions {
  readonly origin?: string | URL | undefined
  readonly path: string
  readonly method: string
  readonly headers?: Headers
  readonly body?: unknown
  readonly upgrade?: unknown
  readonly maxRedirections?: unknown
  /** Options of Tokenlane for this call, which undici passes on. */
  readonly tokenlane?: unknown
}

/** What a handler steers its request with. */
export interface Controller {
  readonly aborted: boolean
  readonly paused: boolean
  readonly reason: unknown
  rawHeaders?: unknown
  rawTrailers?: unknown
  abort(reason?: unknown): void
  pause(): void
  resume(): void
}

export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** What undici tells of a request, in undici 7's and 8's words. */
export interface Handler {
  onRequestStart?(controller: Controller, context: unknown): void
  onRequestUpgrade?(
    controller: Controller,
    status: number,
    headers: ResponseHeaders,
    socket: unknown,
  ): unknown
  onResponseStarted?(): void
  onResponseStart?(controller: Controller, status: number, headers: ResponseHeaders, message?: string): void
  onResponseData?(controller: Controller, chunk: Uint8Array): void
  onResponseEnd?(controller: Controller, trailers: ResponseHeaders): void
  onResponseError?(controller: Controller | null, error: unknown): void
  onBodySent?(chunk: Uint8Array): void
  onRequestSent?(): void
}

/**
 * What undici tells of a request, in undici 6's words. The `fetch` of Node 22 and 24 uses them, and the global dispatcher
 * of Node 22 takes no other.
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

/** What callers hand to `dispatch`: a handler in either words. */
export type AnyHandler = Handler & OldHandler

/** Sends one request. `false` asks the caller to wait for `drain`. */
export type Dispatch = (options: DispatchOptions, handler: AnyHandler) => boolean

/** Whether a handler speaks the words of undici 7 and 8. */
export function isNew(handler: AnyHandler | null | undefined): boolean {
  return typeof handler?.onRequestStart === 'function'
}

/** Whether a handler speaks those of undici 6 alone, with all the methods without which every undici refuses it. */
export function isOld(handler: AnyHandler | null | undefined): boolean {
  const methods = ['onConnect', 'onHeaders', 'onData', 'onComplete', 'onError'] as const
  return !isNew(handler) && methods.every((name) => typeof handler?.[name] === 'function')
}
