import type { CallWaits } from '../events.ts'

/**
 * For what queued calls have waited since the queue began, in milliseconds. These sums only grow: what one call waited for
 * is the difference between two readings.
 */
export class WaitingTime {
  readonly #sums = { token: 0, slot: 0, limit: 0, pause: 0 }
  #cause: keyof CallWaits | undefined
  #since = 0

  /** From now on calls wait for this, or not at all. */
  waitFor(cause: keyof CallWaits | undefined): void {
    // at each response and each call that ends: nearly always for the same as before
    if (cause === this.#cause) return
    this.#settle()
    this.#cause = cause
  }

  read(): CallWaits {
    this.#settle()
    return { ...this.#sums }
  }

  #settle(): void {
    const now = performance.now()
    if (this.#cause !== undefined) this.#sums[this.#cause] += now - this.#since
    this.#since = now
  }
}

/** Returns what was waited for between two readings. */
export function waitsBetween(before: CallWaits, after: CallWaits): CallWaits {
  return {
    token: after.token - before.token,
    slot: after.slot - before.slot,
    limit: after.limit - before.limit,
    pause: after.pause - before.pause,
  }
}
