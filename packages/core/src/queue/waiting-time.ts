import type { CallWaits } from '../events.ts'

export const noWaits: Record<keyof CallWaits, number> = { token: 0, slot: 0, limit: 0, pause: 0 }
export const causes = Object.keys(noWaits) as (keyof CallWaits)[]

export class WaitingTime {
  /** Since the queue began, in milliseconds. */
  readonly #sums = { ...noWaits }
  /** What calls wait for now; `undefined`: nothing. */
  cause: keyof CallWaits | undefined
  #since = 0

  waitFor(cause: keyof CallWaits | undefined): void {
    if (cause === this.cause) return
    this.#read()
    this.cause = cause
  }

  /** Returns a function that tells for what a call has waited since now. */
  start(): () => CallWaits {
    const before = this.#read()
    return () => {
      const waits = this.#read()
      for (const cause of causes) waits[cause] -= before[cause]
      return waits
    }
  }

  #read(): typeof noWaits {
    const now = performance.now()
    if (this.cause !== undefined) this.#sums[this.cause] += now - this.#since
    this.#since = now
    return { ...this.#sums }
  }
}
