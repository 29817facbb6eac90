import type { Accounting, RateLimit } from './rate-policy.ts'
import { SlidingWindow } from './sliding-window.ts'
import { createUnansweredGrace, type UnansweredGrace } from './unanswered-grace.ts'
import { UnitHistory } from './unit-history.ts'

/** One unit of every limit, taken for one attempt. */
export interface Permit {
  /** Notes that the response arrived: the unit comes free one window from now. */
  answered(): void
  /**
   * Notes that the attempt ended. Without a response its request may still be on the way, so the unit comes free later.
   */
  ended(): void
  /** Notes that the attempt was never made: the unit is free at once. */
  cancel(): void
}

/**
 * How many milliseconds not to ask again: `Infinity` while only a response can free a unit, or until the limiter
 * itself calls `LimitedApi.unitsAvailable`.
 */
export type NotBefore = number

/** Decides when the next attempt may go out; which call goes is the queue's decision. */
export interface RateLimiter {
  /**
   * Returns a permit for one attempt, or when to ask again.
   *
   * @param couldUse How many attempts could go now, this one included. The queue asks again at every change; granted
   * units that are not taken then are given back.
   */
  take(couldUse: number): Permit | NotBefore
  /**
   * Returns the milliseconds until the `ahead`-th attempt from now may go, by the limits alone, if each response
   * takes `roundTrip` milliseconds and no attempt goes before `from`. With a `roundTrip` of 0 it is a lower bound.
   */
  forecast(ahead: number, roundTrip: number, from?: number): number
  /** Returns the share of the fullest limit that is in use, 0 to 1, for the status. */
  used?(): number
  /**
   * Returns how many attempts the limits allow now. A limiter that does not know it has no such method; then what the
   * API says remains counts only where its reset is later than the limiter's own next unit.
   */
  unitsLeft?(): number
  /** The API said that its limit was passed: this process sends nothing for `ms`, and other processes should not. */
  pause?(ms: number): void
  /**
   * Lifts a pause, for every process that shares the limiter; the others hear of it by `LimitedApi.resumed`.
   * Without this method `tokens.resume()` lifts the pause of this process only.
   */
  resume?(): void
  /**
   * Keeps another policy from now on, also for calls that wait. Units that are used stay used, and count in the
   * new limits; units that the longest window until now has forgotten do not count. Without this method `tokens.setRatePolicy()` is refused.
   */
  setPolicy?(policy: RateLimiterOptions): void
  /** Notes that no call waits any more, because the last ones gave up. */
  noWaiters?(): void
  /** Ends the limiter: no attempt will follow. Resolves when it has passed on all it has to; must not reject. */
  close?(): Promise<void>
}

/** Which limits hold, and how. */
export interface RateLimiterOptions {
  readonly limits: readonly RateLimit[]
  readonly spread: boolean
  readonly accounting: Accounting
  /** Milliseconds for a request that got no response; by default as `createUnansweredGrace` says. */
  readonly unansweredGrace?: number | undefined
}

/**
 * Creates a limiter that keeps sliding windows in this process's memory, on the monotonic clock or, in a
 * simulation, on another one.
 *
 * Why a unit comes free one window after the response, not after the send: of any `quota + 1` attempts one was
 * answered a full window before the last was sent, so no window of the server's, which counts each somewhere
 * between send and response, holds them all. Counted from the send this holds while all requests travel equally long.
 */
export function createRateLimiter(
  options: RateLimiterOptions,
  clock: () => number = () => performance.now(),
): RateLimiter {
  return new MemoryLimiter(options, clock)
}

class MemoryLimiter implements RateLimiter {
  readonly #history = new UnitHistory()
  #windows: readonly SlidingWindow[] = []
  #longestSpan = 0
  /** Between one send and the next, with `spread`; otherwise 0. */
  #interval = 0
  #accounting: Accounting = 'response'
  #grace: UnansweredGrace = createUnansweredGrace()
  #lastSentAt = Number.NEGATIVE_INFINITY

  readonly #clock: () => number

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
    const permit = new MemoryPermit(this.#history, this.#grace, this.#clock)
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
}

class MemoryPermit implements Permit {
  #history: UnitHistory | undefined
  readonly #grace: UnansweredGrace
  readonly #clock: () => number
  readonly #takenAt: number

  constructor(history: UnitHistory, grace: UnansweredGrace, clock: () => number) {
    this.#history = history
    this.#grace = grace
    this.#clock = clock
    this.#takenAt = clock()
  }

  answered(): void {
    if (this.#history === undefined) return
    const now = this.#clock()
    this.#grace.sawRoundTrip(now - this.#takenAt)
    this.#settle(now)
  }

  ended(): void {
    if (this.#history === undefined) return
    const now = this.#clock()
    this.#grace.sawNoResponse(now - this.#takenAt)
    this.#settle(now + this.#grace.ms)
  }

  cancel(): void {
    this.#history?.giveBack()
    this.#history = undefined
  }

  #settle(at: number): void {
    this.#history?.settle(at)
    this.#history = undefined
  }
}
