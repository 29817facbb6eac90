/** Random choices that a seed repeats (mulberry32). */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** Returns a number from 0 to 1, without the 1, as `Math.random` does. */
  readonly next = (): number => {
    this.#state = (this.#state + 0x6d_2b_79_f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** Returns a whole number between two others, both included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  /** Returns a span between two others; each order of magnitude is as likely as the next. */
  logUniform(least: number, most: number): number {
    return least * (most / least) ** this.next()
  }

  /** Returns the time until something that happens once in `mean` on average. */
  exponential(mean: number): number {
    return -mean * Math.log(1 - this.next())
  }

  /** Returns `true` that often, of 1. */
  chance(share: number): boolean {
    return this.next() < share
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.next() * from.length)] as T
  }
}
