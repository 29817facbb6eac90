/** How far an issuer's clock is from this machine's, as the `Date` of a response shows. */
export class IssuerClock {
  #difference = 0

  /** In whole seconds, to add to this machine's time; 0 until something else is learned. */
  get difference(): number {
    return this.#difference
  }

  /** Takes over the time of a response, in epoch milliseconds, and returns whether that changes the difference. */
  learn(date: number | undefined): boolean {
    if (date === undefined) return false
    // `Date` leaves out the milliseconds: on average that is half a second (RFC 9110 §5.6.7)
    const difference = Math.round((date + 500 - Date.now()) / 1_000)
    if (difference === this.#difference) return false
    this.#difference = difference
    return true
  }
}
