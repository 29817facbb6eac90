import type { Accounting, RateLimit } from './rate-policy.ts'

/** One unit of every limit, taken for one attempt. */
export interface Permit {
  /** The response arrived: the unit comes free one window from now. */
  answered(): void
  /** The attempt ended. Without a response its request may still be on the way, so the unit comes free later. */
  ended(): void
  /** The attempt was never made: the unit is free at once. */
  cancel(): void
}

/** Says when the next attempt may go out; who goes is not its business. */
export interface RateLimiter {
  /**
   * A permit for one attempt, or how many milliseconds not to ask again: `Infinity` while only an answer can free a
   * unit, or until the limiter itself says that something changed (`LimitedApi`).
   *
   * `wanted` attempts could go now if there were units, this one included. Who waits asks again at every change:
   * units that nobody takes then are given back.
   */
  take(wanted: number): Permit | number
  /**
   * Milliseconds until the `ahead`-th attempt from now may go, by the limits alone, if answers take `roundTrip`
   * and nothing goes before `from`. With a `roundTrip` of 0 it cannot be sooner.
   */
  forecast(ahead: number, roundTrip: number, from?: number): number
  /** The API said that the limit was passed: nothing of this process goes for so long, and nothing of others should. */
  pause?(ms: number): void
  /** Nobody waits any more: those that did gave up. */
  enough?(): void
  /** No attempt will follow: ends when what is left to tell is told. Must not fail. */
  close?(): Promise<void>
}

/** Which limits hold, and how. */
export interface RateLimiterOptions {
  readonly limits: readonly RateLimit[]
  readonly spread: boolean
  readonly accounting: Accounting
}

/** For how long a request without an answer may still be on its way to the server, in milliseconds. */
const stray = 1_000

/**
 * Sliding windows in this process's memory, on the monotonic clock.
 *
 * Why a unit comes free one window after the response, not after the send: of any `quota + 1` attempts one was
 * answered a full window before the last was sent, so no window of the server's, which counts each somewhere
 * between send and answer, holds them all. Counted from the send it holds as long as all travel equally long.
 */
export function createRateLimiter({ limits, spread, accounting }: RateLimiterOptions): RateLimiter {
  const windows = limits.map((limit) => new SlidingWindow(limit))
  const interval = spread ? Math.max(0, ...limits.map(({ quota, window }) => window / quota)) : 0
  let notBefore = Number.NEGATIVE_INFINITY

  return {
    take() {
      const now = performance.now()
      let wait = Math.max(0, notBefore - now)
      for (const window of windows) wait = Math.max(wait, window.wait(now))
      if (wait > 0) return wait
      notBefore = now + interval
      for (const window of windows) window.take()
      const permit = new WindowPermit(windows)
      if (accounting === 'send') permit.answered()
      return permit
    },

    forecast(ahead, roundTrip, from = Number.NEGATIVE_INFINITY) {
      const now = performance.now()
      const start = Math.max(now, from)
      let wait = interval === 0 ? 0 : Math.max(0, notBefore - start) + (ahead - 1) * interval
      const lag = accounting === 'send' ? 0 : roundTrip
      for (const window of windows) wait = Math.max(wait, window.forecast(ahead, now, start, lag))
      return start - now + wait
    },
  }
}

class WindowPermit implements Permit {
  #windows: readonly SlidingWindow[]

  constructor(windows: readonly SlidingWindow[]) {
    this.#windows = windows
  }

  answered(): void {
    this.#settle(0)
  }

  ended(): void {
    this.#settle(stray)
  }

  cancel(): void {
    for (const window of this.#windows) window.giveBack()
    this.#windows = []
  }

  #settle(lag: number): void {
    const at = performance.now() + lag
    for (const window of this.#windows) window.settle(at)
    this.#windows = []
  }
}

/** One limit: units under way, and when those that were answered come free again. */
class SlidingWindow {
  readonly #quota: number
  readonly #span: number
  #underWay = 0
  /** Ascending; those before `#head` are over. */
  #freeAt: number[] = []
  #head = 0

  constructor({ quota, window }: RateLimit) {
    this.#quota = quota
    // clocks of two machines differ by less than one in 10,000, and their readings by less than 1 ms
    this.#span = window + 1 + window / 10_000
  }

  take(): void {
    this.#underWay += 1
  }

  giveBack(): void {
    this.#underWay -= 1
  }

  settle(at: number): void {
    this.#underWay -= 1
    const freeAt = at + this.#span
    const last = this.#freeAt.at(-1)
    // one without an answer comes free later than the ones after it
    if (last === undefined || last <= freeAt) this.#freeAt.push(freeAt)
    else this.#freeAt.splice(this.#firstAfter(freeAt), 0, freeAt)
  }

  wait(now: number): number {
    this.#forget(now)
    if (this.#underWay + this.#freeAt.length - this.#head < this.#quota) return 0
    return this.#head < this.#freeAt.length ? (this.#freeAt[this.#head] as number) - now : Infinity
  }

  /** From `start` on, as if every unit under way were answered `roundTrip` from now. */
  forecast(ahead: number, now: number, start: number, roundTrip: number): number {
    const head = this.#firstAfter(start)
    const known = this.#freeAt.length - head
    const beyond = ahead - (this.#quota - this.#underWay - known)
    if (beyond <= 0) return 0
    const round = this.#span + roundTrip
    const inRound = (beyond - 1) % this.#quota
    let freeAt = inRound < known ? (this.#freeAt[head + inRound] as number) : now + round
    if (this.#underWay > 0) freeAt = Math.min(freeAt, now + round)
    // neither free nor under way now: one that goes at the start
    if (inRound >= known + this.#underWay) freeAt = start + round
    return Math.max(0, freeAt - start) + Math.floor((beyond - 1) / this.#quota) * round
  }

  #forget(now: number): void {
    while (this.#head < this.#freeAt.length && (this.#freeAt[this.#head] as number) <= now) this.#head += 1
    if (this.#head <= this.#freeAt.length / 2 && this.#head < this.#freeAt.length) return
    this.#freeAt = this.#freeAt.slice(this.#head)
    this.#head = 0
  }

  /** Where the units begin that come free after `at`. */
  #firstAfter(at: number): number {
    let low = this.#head
    let high = this.#freeAt.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#freeAt[middle] as number) <= at) low = middle + 1
      else high = middle
    }
    return low
  }
}
