/**
 * Ends the wait of calls whose signal aborts, with one listener per signal, however many calls wait with it.
 *
 * A listener for each call would have to be found among all others, when it is added and when it is removed.
 */
export class SharedAbort<T> {
  readonly #giveUp: (waiter: T, reason: unknown) => void
  readonly #groups = new Map<AbortSignal, Group<T>>()

  constructor(giveUp: (waiter: T, reason: unknown) => void) {
    this.#giveUp = giveUp
  }

  watch(signal: AbortSignal, waiter: T): void {
    const group = this.#groups.get(signal)
    if (group !== undefined) {
      group.waiters.add(waiter)
      return
    }
    const waiters = new Set([waiter])
    const listener = (): void => {
      this.#groups.delete(signal)
      for (const each of waiters) this.#giveUp(each, signal.reason)
    }
    this.#groups.set(signal, { waiters, listener })
    signal.addEventListener('abort', listener, { once: true })
  }

  forget(signal: AbortSignal, waiter: T): void {
    const group = this.#groups.get(signal)
    if (group === undefined) return
    group.waiters.delete(waiter)
    if (group.waiters.size > 0) return
    this.#groups.delete(signal)
    signal.removeEventListener('abort', group.listener)
  }
}

interface Group<T> {
  readonly waiters: Set<T>
  readonly listener: () => void
}
