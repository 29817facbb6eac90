import { longestPromise } from './fleet-policy.ts'
import { lease } from './ledger.ts'

/** How many of the last responses count. */
const remembered = 20
/** How many responses are reported to the fleet with one request, at most. */
const mostReported = 5
/** How many responses of its own a process needs within `fresh` milliseconds to promise by them. */
const enough = 10
const fresh = 60_000
/** The part of responses that may come later than was promised: each of them is reported with a request. */
const mostLate = 0.45
/** What a promise may cost: this part of the shortest span, by which units come free later than they could. */
const mostCost = 0.03
/** A request for each call is worth as much as this part of the span. */
const messageCost = 0.04

interface ResponseTime {
  readonly ms: number
  readonly at: number
}

/** How long after their due times the units of a process were answered. */
export class ResponseTimes {
  #last: ResponseTime[] = []
  #unreported: number[] = []

  add(ms: number, at: number): void {
    this.#last.push({ ms, at })
    if (this.#last.length > remembered) this.#last.shift()
    this.#unreported.push(Math.round(ms * 10) / 10)
    if (this.#unreported.length > mostReported) this.#unreported.shift()
  }

  /** Returns the last times that Redis does not know yet. */
  report(): readonly number[] {
    return this.#unreported.splice(0)
  }

  /** Returns the mean in milliseconds, 0 while nothing is known. */
  get mean(): number {
    return meanOf(this.#last.map(({ ms }) => ms))
  }

  /**
   * Returns within how many milliseconds a response can be promised, so that it need not be reported; `lease` where
   * responses take too different times for that; `undefined` for a process that makes too few calls to know.
   */
  promise(now: number, shortestSpan: number): number | undefined {
    const times = this.#last.flatMap(({ ms, at }) => (now - at < fresh ? [ms] : []))
    return times.length < enough ? undefined : promiseOf(times, shortestSpan)
  }
}

/**
 * Returns the promise that costs least, in time by which units come free later and in requests for late responses.
 * `limiter.lua` finds it in the same way for a fleet: `differential.test.ts` compares both.
 */
export function promiseOf(times: readonly number[], shortestSpan: number): number {
  const slowestFirst = times.toSorted((one, other) => other - one)
  const candidates = slowestFirst.slice(0, 1 + Math.floor(times.length * mostLate))
  let best = { promise: lease, cost: Infinity }
  for (const [isLater, time] of candidates.entries()) {
    const promise = time * 1.01 + 1
    const lost = meanOf(times.map((each) => Math.max(0, promise - each))) / shortestSpan
    const cost = lost + (messageCost * isLater) / times.length
    const isAllowed = promise < Math.min(longestPromise, shortestSpan / 2) && lost <= mostCost
    if (isAllowed && cost < best.cost) best = { promise, cost }
  }
  return best.promise
}

function meanOf(times: readonly number[]): number {
  let sum = 0
  for (const time of times) sum += time
  return sum / Math.max(1, times.length)
}
