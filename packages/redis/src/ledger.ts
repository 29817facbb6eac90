/** A unit that was answered, or whose attempt ended. */
interface Settled {
  readonly number: number
  /** On the monotonic clock. */
  readonly at: number
}

/**
 * The units of this process: how many it holds, and which it has yet to tell Redis of.
 *
 * What was told is kept for a window, so that it can be told again to a Redis that lost it.
 */
export class Ledger {
  /** Taken, and neither answered nor given back. */
  held = 0
  readonly #span: number
  #told: Settled[] = []
  #untold: Settled[] = []
  #settled = 0

  constructor(span: number) {
    this.#span = span
  }

  /** Since when something waits to be told. */
  get untoldSince(): number {
    return this.#untold[0]?.at ?? Infinity
  }

  settle(lag: number): void {
    this.held -= 1
    this.#settled += 1
    this.#untold.push({ number: this.#settled, at: performance.now() + lag })
  }

  /** All that is to be told. */
  untold(now: number): readonly Settled[] {
    this.#untold = this.#untold.filter(({ at }) => at > now - this.#span)
    this.#told = this.#told.filter(({ at }) => at > now - this.#span)
    return this.#untold
  }

  /** The first so many of `untold` arrived. */
  told(count: number): void {
    this.#told.push(...this.#untold.splice(0, count))
  }

  tellAgain(): void {
    this.#untold.unshift(...this.#told)
    this.#told = []
  }
}
