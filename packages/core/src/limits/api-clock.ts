/** How far an API's clock may be from ours until a response says more, in milliseconds. */
const assumed = 1_000
/** By how much two clocks drift apart in a millisecond. */
const drift = 1e-4

/** How far an API's clock is ahead of the monotonic clock, at least and at most, by the `Date` of its responses. */
export class ApiClock {
  #least = Number.NEGATIVE_INFINITY
  #most = Infinity
  #knownAt = 0

  /** @param date - when the response began by the API's `Date`, epoch milliseconds of a whole second. */
  heard(date: number, sentAt: number, now: number): void {
    const { least, most } = this.#known(now)
    // it began after the request was sent, and within that second
    const [from, to] = [date - now, date + 1_000 - sentAt]
    const isPossible = from <= most && to >= least
    this.#least = isPossible ? Math.max(least, from) : from
    this.#most = isPossible ? Math.min(most, to) : to
    this.#knownAt = now
  }

  bounds(now: number): { readonly least: number; readonly most: number } {
    if (this.#most < Infinity) return this.#known(now)
    const ours = Date.now() - now
    return { least: ours - assumed, most: ours + assumed }
  }

  #known(now: number): { readonly least: number; readonly most: number } {
    const drifted = (now - this.#knownAt) * drift
    return { least: this.#least - drifted, most: this.#most + drifted }
  }
}
