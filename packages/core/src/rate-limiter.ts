import type { RateLimit } from './rate-policy.ts'

/** One unit of every limit, taken for one attempt. */
export interface Permit {
  /** The response arrived: the unit comes free one window from now. */
  answered(): void
  /** The attempt ended. Without a response its request may still be on the way, so the unit comes free later. */
  ended(): void
  /** The attempt was never sent. */
  cancel(): void
}

/** Says when the next attempt may go out; who goes is not its business. */
export interface RateLimiter {
  /** A permit, or how many milliseconds not to ask again, `Infinity` while only an answer can free a unit. */
  take(): Permit | number
  /** Milliseconds that the `ahead`-th attempt from now must wait at least, by the limits alone. */
  leastWait(ahead: number): number
}

/** For how long a request without an answer may still be on its way to the server, in milliseconds. */
const stray = 1_000

/**
 * Sliding windows in this process's memory, on the monotonic clock.
 *
 * Why a unit comes free one window after the response, not after the send: of any `quota + 1` attempts one was
 * answered a full window before the last was sent, so no window of the server's, which counts each somewhere
 * between send and answer, holds them all.
 */
export function createRateLimiter(limits: readonly RateLimit[], spread: boolean): RateLimiter {
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
      let open = true
      const settle = (lag: number): void => {
        if (!open) return
        open = false
        const at = performance.now() + lag
        for (const window of windows) window.settle(at)
      }
      return {
        answered: () => settle(0),
        ended: () => settle(stray),
        cancel() {
          if (!open) return
          open = false
          for (const window of windows) window.giveBack()
        },
      }
    },

    leastWait(ahead) {
      const now = performance.now()
      const spacing = interval === 0 ? 0 : Math.max(0, notBefore - now) + (ahead - 1) * interval
      return Math.max(spacing, ...windows.map((window) => window.leastWait(ahead, now)))
    },
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
    else this.#freeAt.splice(this.#freeAt.findLastIndex((other) => other <= freeAt) + 1, 0, freeAt)
  }

  wait(now: number): number {
    this.#forget(now)
    if (this.#used < this.#quota) return 0
    return this.#head < this.#freeAt.length ? (this.#freeAt[this.#head] as number) - now : Infinity
  }

  /** As if every unit under way were answered now. */
  leastWait(ahead: number, now: number): number {
    this.#forget(now)
    const beyond = ahead - (this.#quota - this.#used)
    if (beyond <= 0) return 0
    const rounds = Math.floor((beyond - 1) / this.#quota)
    const inRound = (beyond - 1) % this.#quota
    const free = this.#freeAt[this.#head + inRound] ?? now + this.#span
    return Math.max(0, free - now) + rounds * this.#span
  }

  get #used(): number {
    return this.#underWay + this.#freeAt.length - this.#head
  }

  #forget(now: number): void {
    while (this.#head < this.#freeAt.length && (this.#freeAt[this.#head] as number) <= now) this.#head += 1
    if (this.#head <= this.#freeAt.length / 2 && this.#head < this.#freeAt.length) return
    this.#freeAt = this.#freeAt.slice(this.#head)
    this.#head = 0
  }
}
