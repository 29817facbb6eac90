/** How often the pulse reads the clock, in milliseconds. */
const interval = 10
/** For how long a machine that had no time for this process counts as busy, in milliseconds. */
const remembered = 1_000

export class Pulse {
  #last: number
  #stalls: { at: number; ms: number }[] = []
  readonly #timer: NodeJS.Timeout

  constructor(now: () => number) {
    this.#last = now()
    this.#timer = setInterval(() => {
      const at = now()
      this.#stalls = this.#stalls.filter((stall) => at - stall.at < remembered)
      if (at - this.#last > 2 * interval) this.#stalls.push({ at, ms: at - this.#last })
      this.#last = at
    }, interval).unref()
  }

  /**
   * Returns the earliest time at which bytes that are read now may have been sent. That is long ago if this process was
   * busy or had no processor, and its client perhaps had none either. The verdict must not count such a delay as a mistake
   * of the client.
   */
  earliest(): number {
    return this.#last - Math.max(0, ...this.#stalls.map(({ ms }) => ms))
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
