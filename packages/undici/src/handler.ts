// The parts of undici that a call touches. The package imports no undici: the caller's copy decides.
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
  /** `null` in the requests that undici's `redirect` makes. */
  readonly query?: unknown
  readonly signal?: { readonly aborted?: boolean } | null
  readonly upgrade?: unknown
  /** Options of Tokenlane for this call, which undici passes on. */
  readonly tokenlane?: unknown
}

export interface Controller {
  rawHeaders?: unknown
  rawTrailers?: unknown
  abort(reason?: unknown): void
  pause(): void
  resume(): void
}

export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** What undici tells of a request. */
export interface Handler {
  onRequestStart?(controller: Controller, context: unknown): void
  onResponseStarted?(): void
  onResponseStart?(controller: Controller, status: number, headers: ResponseHeaders, message?: string): void
  onResponseData?(controller: Controller, chunk: Uint8Array): void
  onResponseEnd?(controller: Controller, trailers: ResponseHeaders): void
  onResponseError?(controller: Controller | null, error: unknown): void
  onBodySent?(chunk: Uint8Array): void
  onRequestSent?(): void
}

/** Sends one request. `false` asks the caller to wait for `drain`. */
export type Dispatch = (options: DispatchOptions, handler: Handler) => boolean
