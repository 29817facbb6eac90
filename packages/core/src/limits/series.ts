/**
 * Returns how long a unit of a limit stays used after its response arrived, in milliseconds: the window, 1 ms for
 * the readings of two clocks, and a ten-thousandth for two clocks that run at different speeds.
 *
 * Part of the proof that a server never counts more than `quota` calls in a window; in-memory and shared limiters
 * use the same span.
 */
export function unitSpan(window: number): number {
  return window + 1 + window / 10_000
}

/** By how much a sum of parts of units may be wrong. */
export const inexact = 1e-6
const leastRoom = 32

/** The units that count together, by the latest time at which their requests can have arrived; ascending. */
export class Series {
  readonly #times: number[] = []
  /** How many units there have been before each time, and in all. */
  readonly #sums = [0]
  /** With so many times, those of units that count no more are forgotten. */
  #room = 0
  /** For how long a unit may count, in milliseconds: the longest span that was asked for. */
  span = 0

  /** Returns how many units arrived after `time`. */
  after(time: number): number {
    return (this.#sums.at(-1) as number) - (this.#sums[firstAbove(this.#times, time)] as number)
  }

  /** Returns when the last of the first `units` arrived, of those that arrived after `time`. */
  timeOf(units: number, time: number): number {
    const sought = (this.#sums[firstAbove(this.#times, time)] as number) + units - inexact
    return this.#times[firstAbove(this.#sums, sought) - 1] ?? Infinity
  }

  add(time: number, cost: number, now: number): void {
    if (this.#times.length >= this.#room) this.#forget(now)
    const [times, sums] = [this.#times, this.#sums]
    const last = times.length
    const index = (times[last - 1] ?? time) <= time ? last : firstAbove(this.#times, time)
    if (index === last) {
      times.push(time)
      sums.push((sums[last] as number) + cost)
      return
    }
    times.splice(index, 0, time)
    sums.splice(index, 0, sums[index] as number)
    for (let next = index + 1; next < sums.length; next += 1) (sums[next] as number) += cost
  }

  /** Takes out `cost` units that arrived at `time`; none that is forgotten. */
  remove(time: number, cost: number): void {
    const index = this.#find(time, cost)
    if (index < 0) return
    this.#times.splice(index, 1)
    this.#sums.splice(index + 1, 1)
    for (let next = index + 1; next < this.#sums.length; next += 1) (this.#sums[next] as number) -= cost
  }

  /** Moves units; those that are forgotten stay so. In place, since a long turn of the event loop moves thousands. */
  move(from: number, to: number, cost: number): void {
    const [times, sums] = [this.#times, this.#sums]
    let index = this.#find(from, cost)
    if (index < 0) return
    for (; index > 0 && (times[index - 1] as number) > to; index -= 1) {
      times[index] = times[index - 1] as number
      sums[index] = (sums[index - 1] as number) + cost
    }
    for (; index < times.length - 1 && (times[index + 1] as number) < to; index += 1) {
      times[index] = times[index + 1] as number
      sums[index + 1] = (sums[index + 2] as number) - cost
    }
    times[index] = to
  }

  #forget(now: number): void {
    const free = firstAbove(this.#times, now - this.span)
    this.#times.splice(0, free)
    this.#sums.splice(0, free)
    this.#room = 2 * this.#times.length + leastRoom
  }

  #find(time: number, cost: number): number {
    let index = firstAbove(this.#times, time) - 1
    for (; this.#times[index] === time; index -= 1) {
      const found = (this.#sums[index + 1] as number) - (this.#sums[index] as number)
      if (Math.abs(found - cost) <= inexact) return index
    }
    return -1
  }
}

/** Returns the index of the first of ascending values that is above another one. */
function firstAbove(values: readonly number[], value: number): number {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((values[middle] as number) <= value) low = middle + 1
    else high = middle
  }
  return low
}
