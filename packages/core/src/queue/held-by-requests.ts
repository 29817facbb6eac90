import { lookUntilThere, SignOfLife } from '../runtime/sign-of-life.ts'

/** How often the queue looks for requests that have ended, at most, in milliseconds. */
const sweepInterval = 250

/**
 * What incoming requests hold of a queue, in a runtime that ends a request without a word: their places and their turns.
 * Of requests that have ended, the queue takes them back.
 */
export class HeldByRequests<Holding extends object> {
  readonly #signs = new Map<Holding, SignOfLife>()
  #sweptAt = performance.now()

  /** Notes what the present request holds from now on. */
  add(holding: Holding): void {
    this.#signs.set(holding, new SignOfLife())
  }

  /** Notes that the request of one holding has another one instead; it need not be the present request. */
  exchange(before: Holding, after: Holding): void {
    const sign = this.#signs.get(before)
    this.#signs.delete(before)
    if (sign !== undefined) this.#signs.set(after, sign)
  }

  /** Notes that a request gave back what it held; returns whether it held it until now. */
  remove(holding: Holding): boolean {
    this.#signs.get(holding)?.end()
    return this.#signs.delete(holding)
  }

  /** Returns what is held by requests that have ended; nothing shortly after the last look. */
  lost(): Holding[] {
    if (performance.now() - this.#sweptAt < sweepInterval) return []
    this.#sweptAt = performance.now()
    return Array.from(this.#signs)
      .filter(([, sign]) => sign.isLost)
      .map(([holding]) => holding)
  }
}

/** What a call of one incoming request waits for and another request may bring: the waiting one looks for it. */
export class Delivery<T> {
  #outcome: { readonly value: T } | { readonly reason: unknown } | undefined

  readonly resolve = (value: T): void => {
    this.#outcome ??= { value }
  }

  readonly reject = (reason: unknown): void => {
    this.#outcome ??= { reason }
  }

  /** Waits until it is there, and calls `meanwhile` at each look before. */
  async arrival(meanwhile: () => void): Promise<T> {
    const outcome = await lookUntilThere(() => {
      if (this.#outcome === undefined) meanwhile()
      return this.#outcome
    })
    if ('reason' in outcome) throw outcome.reason
    return outcome.value
  }
}
