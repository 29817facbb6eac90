import type { CallWaits } from '../events.ts'

/** Measures for what queued calls wait. */
export class WaitingTime {
  /** Since the queue began, in milliseconds. */
  readonly #sums = { token: 0, slot: 0, limit: 0, pause: 0 }
  #cause: keyof CallWaits | undefined
  #since = 0

  /** From now on calls wait for this, or not at all. */
  waitFor(cause: keyof CallWaits | undefined): void {
    this.#read()
    this.#cause = cause
  }

  /** Returns a function that returns for what a call has waited since now. */
  start(): () => CallWaits {
    const before = this.#read()
    return () => {
      const { token, slot, limit, pause } = this.#read()
      return {
        token: token - before.token,
        slot: slot - before.slot,
        limit: limit - before.limit,
        pause: pause - before.pause,
      }
    }
  }

  #read(): CallWaits {
    const now = performance.now()
    if (this.#cause !== undefined) this.#sums[this.#cause] += now - this.#since
    this.#since = now
    return { ...this.#sums }
  }
}
