import { doubled } from '../time/backoff.ts'

/** Pauses of an API that does not say how long, from here to there, in milliseconds. */
const shortest = 1_000
const longest = 60_000

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
    return doubled(this.#inRow, shortest, longest)
  }

  /** Notes that a call of that time kept to the limit. */
  kept(takenAt: number): void {
    if (takenAt > this.#lastAt) this.#inRow = 0
  }
}
