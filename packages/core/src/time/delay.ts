import { abortable } from './abortable.ts'

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
