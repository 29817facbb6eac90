import { backoff } from '../time/backoff.ts'

/** The pause of an API that does not say how long. */
const pauseAfter = backoff({ first: 1_000, most: 60_000, jitter: 'none' })

/** Decides how long an API pauses that refused a call for its limit and did not say for how long. */
export class LimitBackoff {
  #inRow = 0
  /** When the last began, on the monotonic clock. */
  #lastAt = Number.NEGATIVE_INFINITY

  /** Returns the pause after the refusal of a call of that time, in milliseconds. */
  after(takenAt: number): number {
    // calls that were under way together are refused together: that is one refusal in a row, not ten
    if (takenAt > this.#lastAt) {
      this.#inRow += 1
      this.#lastAt = performance.now()
    }
    return pauseAfter(this.#inRow)
  }

  /** Notes that a call of that time kept to the limit. */
  kept(takenAt: number): void {
    if (takenAt > this.#lastAt) this.#inRow = 0
  }
}
