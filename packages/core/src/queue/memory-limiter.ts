import { Arrivals, type LimiterClock } from './arrivals.ts'
import type { NotBefore, Permit, RateLimiter, RateLimiterOptions } from './rate-limiter.ts'
import { SlidingWindow, UnitHistory } from './sliding-window.ts'

/**
 * Creates a limiter that keeps sliding windows in this process's memory, on the monotonic clock or, in a
 * simulation, on another one.
 *
 * A unit comes free one window after its request has arrived at the latest; `Arrivals` says when that is, and why no
 * window of the server's then holds more than the quota.
 *
 * @param isAlone whether all requests that the API counts pass this limiter.
 */
export function createRateLimiter(
  options: RateLimiterOptions,
  clock: LimiterClock = processClock,
  isAlone = true,
): RateLimiter {
  return new MemoryLimiter(options, clock, isAlone)
}

const processClock: LimiterClock = {
  now: () => performance.now(),
  after: (ms, run) => setTimeout(run, ms),
}

class MemoryLimiter implements RateLimiter {
  readonly #clock: LimiterClock
  readonly #history = new UnitHistory()
  readonly #arrivals: Arrivals
  #windows: readonly SlidingWindow[] = []
  #longestSpan = 0
  /** Between one send and the next, with `spread`; otherwise 0. */
  #interval = 0
  #lastSentAt = Number.NEGATIVE_INFINITY

  constructor(options: RateLimiterOptions, clock: LimiterClock, isAlone: boolean) {
    this.#clock = clock
    this.#arrivals = new Arrivals(clock, ({ latest }, from) => this.#history.move(from, latest), isAlone)
    this.setPolicy(options)
  }

  setPolicy({ limits, spread, accounting, unansweredGrace }: RateLimiterOptions): void {
    this.#windows = limits.map((limit) => new SlidingWindow(limit, this.#history))
    this.#longestSpan = Math.max(0, ...this.#windows.map(({ span }) => span))
    this.#interval = spread ? Math.max(0, ...limits.map(({ quota, window }) => window / quota)) : 0
    this.#arrivals.setPolicy(accounting, unansweredGrace, this.#longestSpan)
  }

  take(): Permit | NotBefore {
    const now = this.#clock.now()
    let wait = 0
    this.#arrivals.stillHere(now)
    for (const window of this.#windows) wait = Math.max(wait, window.wait(now))
    if (wait > 0) this.#arrivals.full()
    wait = Math.max(wait, this.#lastSentAt + this.#interval - now)
    if (wait > 0) return wait
    this.#lastSentAt = now
    this.#history.forget(now, this.#longestSpan)
    return this.#permit()
  }

  used(): number {
    const now = this.#clock.now()
    return Math.max(0, ...this.#windows.map((window) => window.used(now)))
  }

  unitsLeft(): number {
    const now = this.#clock.now()
    return Math.min(Infinity, ...this.#windows.map((window) => window.unitsLeft(now)))
  }

  forecast(ahead: number, lag: number, from: number = Number.NEGATIVE_INFINITY): number {
    const now = this.#clock.now()
    const start = Math.max(now, from)
    const interval = this.#interval
    // sure is only what no response can make earlier
    const slack = lag === 0 ? this.#arrivals.slack : 0
    let wait = interval === 0 ? 0 : Math.max(0, this.#lastSentAt + interval - start) + (ahead - 1) * interval
    for (const window of this.#windows) wait = Math.max(wait, window.forecast(ahead, start, lag, slack))
    return start - now + wait
  }

  pause(ms: number): void {
    this.#arrivals.refused(ms)
  }

  lag(): number {
    return this.#arrivals.lag
  }

  arrivesWithin(): number {
    return this.#arrivals.bound
  }

  /** Takes a unit. What ends it first counts. */
  #permit(): Permit {
    const arrivals = this.#arrivals
    const history = this.#history
    const request = arrivals.send()
    history.add(request.latest)
    let state: 'sent' | 'answered' | 'ended' = 'sent'
    return {
      answered: (isRefused = false) => {
        if (state !== 'sent') return
        state = 'answered'
        arrivals.answered(request, isRefused)
      },
      ended: () => {
        if (state === 'answered') arrivals.freed()
        else if (state === 'sent') arrivals.unanswered(request)
        state = 'ended'
      },
      cancel: () => {
        if (state !== 'sent') return
        state = 'ended'
        arrivals.cancelled(request)
        history.remove(request.latest)
      },
    }
  }
}
