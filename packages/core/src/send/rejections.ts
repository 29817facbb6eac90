import { Allowance } from './allowance.ts'
import { backoff } from '../time/backoff.ts'

/** Renewals that an API's 401s force are spaced, from here to there. */
const shortest = 1_000
const longest = 60_000

/** When a 401 may force a renewal: an API that refuses every token must not cost a token request per call. */
export class Rejections {
  /** Tokens in a row that were refused though they were current. */
  #inRow = 0
  #renewAgainAt = Number.NEGATIVE_INFINITY
  /** How often a call that was never refused may tell that a renewal was of use: other endpoints may refuse. */
  readonly #hearsay = new Allowance(5, 10_000)

  /** Whether one may be forced now; then the next has to wait. */
  mayRenew(): boolean {
    if (performance.now() < this.#renewAgainAt) return false
    this.#inRow += 1
    this.#renewAgainAt = performance.now() + backoff(this.#inRow, shortest, longest)
    return true
  }

  /**
   * A token was of use, so that the next that is refused may be renewed at once.
   *
   * @param again whether to a call that was refused before.
   */
  accepted(again: boolean): void {
    this.#inRow = 0
    // nearly always, and without a look at the clock
    if (this.#renewAgainAt === Number.NEGATIVE_INFINITY) return
    if (performance.now() >= this.#renewAgainAt) return
    if (again || this.#hearsay.take()) this.#renewAgainAt = Number.NEGATIVE_INFINITY
  }
}
