import { longestPromise } from './fleet-policy.ts'

/** How many of the last answers count. */
const remembered = 20
/** The part of answers that may come later than was promised: those are reported, each with a message. */
const late = 0.25
/** What a promise may cost: this part of the shortest span, by which units come free later than they could. */
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
    return meanOf(this.#times)
  }

  /**
   * Returns within how many milliseconds an answer can be promised, so that it need not be reported; `undefined` where
   * answers take too different times for that.
   */
  promise(shortestSpan: number): number | undefined {
    const slowestFirst = this.#times.toSorted((one, other) => other - one)
    const usual = slowestFirst[Math.floor(slowestFirst.length * late)]
    if (usual === undefined) return undefined
    const promise = usual * 1.05 + 2
    const cost = meanOf(this.#times.map((time) => Math.max(0, promise - time)))
    const isWorthwhile = cost <= shortestSpan * worthwhile
    return isWorthwhile && promise < Math.min(longestPromise, shortestSpan / 2) ? promise : undefined
  }
}

function meanOf(times: readonly number[]): number {
  let sum = 0
  for (const time of times) sum += time
  return sum / Math.max(1, times.length)
}
