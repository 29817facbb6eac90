import { longestPromise } from './fleet-policy.ts'

/** How many of the last answers count. */
const remembered = 20
/** How many answers may come later than was promised: those are told. */
const rare = 0.25
/** What a promise may cost: this part of the shortest span, for which units come free later than they could. */
const worthwhile = 0.02

/** How long after their due times the units of a process were answered. */
export class AnswerTimes {
  #times: number[] = []
  #next = 0

  add(ms: number): void {
    this.#times[this.#next] = ms
    this.#next = (this.#next + 1) % remembered
  }

  /** In milliseconds; 0 while nothing is known. */
  get mean(): number {
    let sum = 0
    for (const time of this.#times) sum += time
    return sum / Math.max(1, this.#times.length)
  }

  /**
   * Returns within how many milliseconds an answer can be promised, so that it need not be told; `undefined` where
   * answers take too different times for that.
   */
  promise(shortestSpan: number): number | undefined {
    if (this.#times.length === 0) return undefined
    const usual = this.#times.toSorted((a, b) => b - a)[Math.floor(this.#times.length * rare)] ?? 0
    const promise = usual * 1.25 + 2
    const isCheap =
      promise - this.mean <= shortestSpan * worthwhile && promise < Math.min(longestPromise, shortestSpan / 2)
    return isCheap ? promise : undefined
  }
}
