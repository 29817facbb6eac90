// Types alone: the package loads no undici, since the caller's copy decides.
import type { Dispatcher } from 'undici'

export interface Handler extends Omit<Dispatcher.DispatchHandler, 'onResponseError' | 'onBodySent'> {
  onResponseError?(controller: Controller | null, error: unknown): void
  onBodySent?(chunk: Buffer): void
  onRequestSent?(): void
}

export interface Controller extends Dispatcher.DispatchController {
  abort(reason?: unknown): void
}

export type ResponseHeaders = Parameters<NonNullable<Handler['onResponseStart']>>[2]

export interface DispatchOptions extends Omit<Dispatcher.DispatchOptions, 'headers'> {
  readonly headers?: unknown
  readonly signal?: { readonly aborted?: boolean } | null
  /** Options of Tokenlane for this call, which undici passes on. */
  readonly tokenlane?: unknown
}

/** Sends one request. `false` asks the caller to wait for `drain`. */
export type Dispatch = (options: DispatchOptions, handler: Handler) => boolean
