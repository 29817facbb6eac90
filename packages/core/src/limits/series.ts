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

/** The units that count together, by the latest time at which their requests can have arrived; ascending. */
export class Series {
  readonly #times: number[] = []
  /** How many units there have been up to each time. */
  readonly #sums: number[] = []
  #before = 0
  /** For how long a unit may count, in milliseconds: the longest span that was asked for. */
  span = 0

  /** Returns how many units arrived after `time`. */
  after(time: number): number {
    return this.#sumUpTo(this.#times.length) - this.#sumUpTo(this.#firstAfter(time))
  }

  /** Returns when the last of the first `units` arrived, of those that arrived after `time`. */
  timeOf(units: number, time: number): number {
    const sought = this.#sumUpTo(this.#firstAfter(time)) + units - inexact
    let low = 0
    let high = this.#sums.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#sums[middle] as number) < sought) low = middle + 1
      else high = middle
    }
    return this.#times[low] ?? Infinity
  }

  add(time: number, cost: number): void {
    const last = this.#times.length
    if ((this.#times[last - 1] ?? time) <= time) {
      this.#times.push(time)
      this.#sums.push(this.#sumUpTo(last) + cost)
    } else this.#insert(this.#firstAfter(time), time, cost)
  }

  /** Takes out `cost` units that arrived at `time`; none that is forgotten. */
  remove(time: number, cost: number): void {
    const index = this.#find(time, cost)
    if (index < 0) return
    this.#times.splice(index, 1)
    this.#sums.splice(index, 1)
    for (let next = index; next < this.#sums.length; next += 1) (this.#sums[next] as number) -= cost
  }

  /** Moves units; those that are forgotten stay so. In place, since a long turn of the event loop moves thousands. */
  move(from: number, to: number, cost: number): void {
    const [times, sums] = [this.#times, this.#sums]
    let index = this.#find(from, cost)
    if (index < 0) return
    for (; index > 0 && (times[index - 1] as number) > to; index -= 1) {
      times[index] = times[index - 1] as number
      sums[index - 1] = this.#sumUpTo(index - 1) + cost
    }
    for (; index < times.length - 1 && (times[index + 1] as number) < to; index += 1) {
      times[index] = times[index + 1] as number
      sums[index] = (sums[index + 1] as number) - cost
    }
    times[index] = to
  }

  /** Forgets the units that count no more, once they are half of all: each time, all others move up. */
  forget(now: number): void {
    const free = this.#firstAfter(now - this.span)
    if (2 * free <= this.#times.length) return
    this.#before = this.#sumUpTo(free)
    this.#times.splice(0, free)
    this.#sums.splice(0, free)
  }

  #insert(index: number, time: number, cost: number): void {
    this.#times.splice(index, 0, time)
    this.#sums.splice(index, 0, this.#sumUpTo(index))
    for (let next = index; next < this.#sums.length; next += 1) (this.#sums[next] as number) += cost
  }

  #find(time: number, cost: number): number {
    let index = this.#firstAfter(time) - 1
    for (; this.#times[index] === time; index -= 1)
      if (Math.abs(this.#sumUpTo(index + 1) - this.#sumUpTo(index) - cost) <= inexact) return index
    return -1
  }

  #sumUpTo(index: number): number {
    return index > 0 ? (this.#sums[index - 1] as number) : this.#before
  }

  /** Returns where the units begin that arrived after `time`. */
  #firstAfter(time: number): number {
    let low = 0
    let high = this.#times.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#times[middle] as number) <= time) low = middle + 1
      else high = middle
    }
    return low
  }
}
