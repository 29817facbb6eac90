/** A timer that can be ended early, and that keeps the process alive only while it is referenced. */
export class Delay {
  readonly #ended = Promise.withResolvers<void>()
  readonly over: Promise<void> = this.#ended.promise
  readonly #timer: ReturnType<typeof setTimeout>

  constructor(ms: number) {
    // a fraction of a millisecond would be cut off
    this.#timer = setTimeout(this.#ended.resolve, Math.ceil(ms))
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#ended.resolve()
  }

  // outside of Node a timer is a number, which keeps no process alive

  ref(): void {
    this.#timer.ref?.()
  }

  unref(): void {
    this.#timer.unref?.()
  }
}

/** Lets `ms` milliseconds pass; throws the reason of the signal if it aborts before. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const delay = new Delay(ms)
  try {
    await abortable(delay.over, signal)
  } finally {
    delay.stop()
  }
}

/**
 * Waits for `work` unless `signal` aborts first, which ends the wait only, never the work.
 *
 * Not by `AbortSignal.any` or `Promise.race`: they keep something of every call for as long as the signal lives.
 */
export function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const abort = (): void => reject(signal.reason as Error)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  work.finally(() => signal.removeEventListener('abort', abort)).then(resolve, reject)
  return promise
}
