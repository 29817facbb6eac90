import type { InternalAxiosRequestConfig } from 'axios'

/** A signal that ends the wait for a token. `release` leaves no listener behind. */
interface WaitSignal {
  readonly signal: AbortSignal | undefined
  readonly release: () => void
}

/** Joins the caller's `signal` and axios' older `cancelToken` in one signal. axios makes its own error of either. */
export function waitSignal({ signal, cancelToken }: InternalAxiosRequestConfig): WaitSignal {
  if (cancelToken === undefined && (signal === undefined || signal instanceof AbortSignal))
    return { signal, release: () => {} }

  const controller = new AbortController()
  const abort = (): void => controller.abort()
  if (signal?.aborted === true) abort()
  signal?.addEventListener?.('abort', abort)
  cancelToken?.subscribe(abort)
  return {
    signal: controller.signal,
    release() {
      signal?.removeEventListener?.('abort', abort)
      cancelToken?.unsubscribe(abort)
    },
  }
}
