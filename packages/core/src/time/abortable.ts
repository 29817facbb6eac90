/**
 * Waits for `work` unless `signal` aborts first, which ends the wait only, never the work.
 *
 * Not by `AbortSignal.any` or `Promise.race`: they keep something of every call for as long as the signal lives.
 */
export function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    work.finally(() => signal.removeEventListener('abort', abort)).then(resolve, reject)
  })
}
