import { parseRetryAfter } from '../time/retry-after.ts'

/** Pauses of an API that does not say how long, from here to there. */
const shortest = 1_000
const longest = 60_000

/** Decides how long an API pauses that said that its limit was passed. */
export class LimitBackoff {
  #inRow = 0
  /** When the last began, on the monotonic clock. */
  #lastAt = Number.NEGATIVE_INFINITY

  /** Returns the pause after the response to a call of that time, in milliseconds. */
  after(takenAt: number, retryAfter: string | null | undefined): number {
    // calls that were under way together pass the limit together: that is one pause, not ten
    if (takenAt > this.#lastAt) {
      this.#inRow += 1
      this.#lastAt = performance.now()
    }
    const unasked = Math.min(longest, shortest * 2 ** (this.#inRow - 1))
    return parseRetryAfter(retryAfter, Date.now()) ?? unasked
  }

  /** Notes that a call of that time kept to the limit. */
  kept(takenAt: number): void {
    if (takenAt > this.#lastAt) this.#inRow = 0
  }
}
