import type { NotBefore, Permit, RateLimiter, RateLimiterOptions } from './rate-limiter.ts'
import type { Accounting } from './rate-policy.ts'
import { SlidingWindow, UnitHistory } from './sliding-window.ts'
import { createUnansweredGrace, type UnansweredGrace } from './unanswered-grace.ts'

/**
 * Creates a limiter that keeps sliding windows in this process's memory, on the monotonic clock or, in a
 * simulation, on another one.
 *
 * Why a unit comes free one window after the response, not after the send: of any `quota + 1` attempts one was
 * answered a full window before the last was sent, so no window of the server's, which counts each somewhere
 * between send and response, holds them all. Counted from the send this holds while all requests travel equally long.
 */
export function createRateLimiter(options: RateLimiterOptions, clock: () => number = monotonic): RateLimiter {
  return new MemoryLimiter(options, clock)
}

const monotonic = (): number => performance.now()

class MemoryLimiter implements RateLimiter {
  readonly #clock: () => number
  readonly #history = new UnitHistory()
  #windows: readonly SlidingWindow[] = []
  #longestSpan = 0
  /** Between one send and the next, with `spread`; otherwise 0. */
  #interval = 0
  #accounting: Accounting = 'response'
  #grace: UnansweredGrace = createUnansweredGrace()
  #lastSentAt = Number.NEGATIVE_INFINITY

  constructor(options: RateLimiterOptions, clock: () => number) {
    this.#clock = clock
    this.setPolicy(options)
  }

  setPolicy({ limits, spread, accounting, unansweredGrace }: RateLimiterOptions): void {
    this.#windows = limits.map((limit) => new SlidingWindow(limit, this.#history))
    this.#longestSpan = Math.max(0, ...this.#windows.map(({ span }) => span))
    this.#interval = spread ? Math.max(0, ...limits.map(({ quota, window }) => window / quota)) : 0
    this.#accounting = accounting
    this.#grace = createUnansweredGrace(unansweredGrace)
  }

  take(): Permit | NotBefore {
    const now = this.#clock()
    let wait = Math.max(0, this.#lastSentAt + this.#interval - now)
    for (const window of this.#windows) wait = Math.max(wait, window.wait(now))
    if (wait > 0) return wait
    this.#lastSentAt = now
    this.#history.forget(now, this.#longestSpan)
    this.#history.take()
    const permit = this.#permit(now)
    if (this.#accounting === 'send') permit.answered()
    return permit
  }

  used(): number {
    const now = this.#clock()
    return Math.max(0, ...this.#windows.map((window) => window.used(now)))
  }

  unitsLeft(): number {
    const now = this.#clock()
    return Math.min(Infinity, ...this.#windows.map((window) => window.unitsLeft(now)))
  }

  forecast(ahead: number, roundTrip: number, from: number = Number.NEGATIVE_INFINITY): number {
    const now = this.#clock()
    const start = Math.max(now, from)
    const interval = this.#interval
    let wait = interval === 0 ? 0 : Math.max(0, this.#lastSentAt + interval - start) + (ahead - 1) * interval
    const lag = this.#accounting === 'send' ? 0 : roundTrip
    for (const window of this.#windows) wait = Math.max(wait, window.forecast(ahead, now, start, lag))
    return start - now + wait
  }

  /** Returns the permit of a unit that was just taken. What ends it first counts. */
  #permit(takenAt: number): Permit {
    const history = this.#history
    const grace = this.#grace
    let isOver = false
    const end = (settle: (now: number) => void): void => {
      if (!isOver) settle(this.#clock())
      isOver = true
    }
    return {
      answered: () =>
        end((now) => {
          grace.sawRoundTrip(now - takenAt)
          history.settle(now)
        }),
      ended: () =>
        end((now) => {
          grace.sawNoResponse(now - takenAt)
          history.settle(now + grace.ms)
        }),
      cancel: () => end(() => history.giveBack()),
    }
  }
}
