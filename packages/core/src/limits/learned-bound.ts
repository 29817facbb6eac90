/** The first request of a connection waits for its set-up: TCP and TLS take 600 ms between continents. */
export const setUpFactor = 4
/** A refusal multiplies the bound: the first one, and each after it. */
const firstRaise = 2.5
const laterRaise = 1.1
/** After a refusal, a bound of a whole window shrinks by a tenth after this many quiet windows, a shorter one after more. */
const quietWindows = 5
/** The shortest bound, as a part of the window: a shorter one would gain nothing. */
const leastOfWindow = 1 / 200

/** The longest a request can take to arrive, in milliseconds, as learned from windows with a refusal and without. */
export class LearnedBound {
  ms: number
  readonly #grace: number
  readonly #window: number
  #wasRefused = false
  #quiet = 0

  /** @param grace what is assumed at first, in milliseconds. */
  constructor(grace: number, window: number) {
    this.ms = this.#grace = grace
    this.#window = window
  }

  /** A window passed without a refusal. The longer the bound, the more there is to gain. */
  held(): void {
    this.#quiet += 1
    if (!this.#wasRefused) this.#shrink(1 / (1 + Math.min(1, (2 * this.ms) / this.#window)))
    else if (this.#quiet * this.ms > quietWindows * this.#window) this.#shrink(0.9)
  }

  failed(): void {
    this.#quiet = 0
    if (this.#wasRefused) this.ms = Math.min(setUpFactor * this.#grace, this.ms * laterRaise)
    // hardly less than the initial assumption: a stall, which says nothing about the network
    else if (this.ms * firstRaise > this.#grace) this.ms = this.#grace
    else {
      this.ms *= firstRaise
      this.#wasRefused = true
    }
  }

  #shrink(by: number): void {
    this.#quiet = 0
    this.ms = Math.max(Math.min(this.ms, leastOfWindow * this.#window), this.ms * by)
  }
}
