import { Arrivals, type LimiterClock } from './arrivals.ts'
import type { RoundTripMemory } from './round-trips.ts'
import type { NotBefore, Permit, RateLimiter, RateLimiterOptions } from './rate-limiter.ts'
import { SlidingWindows, unitSpan } from './sliding-windows.ts'

/**
 * Creates a limiter that keeps sliding windows in this process's memory, on the monotonic clock or, in a
 * simulation, on another one.
 *
 * A unit is freed one window after the latest time at which its request can have arrived; `Arrivals` says when that is, and why no
 * window of the server's then holds more than the quota.
 *
 * @param roundTrips of every request that the API counts; by default only this limiter's.
 */
export function createRateLimiter(
  options: RateLimiterOptions,
  clock: LimiterClock = processClock,
  roundTrips?: RoundTripMemory,
): RateLimiter {
  return new MemoryLimiter(options, clock, roundTrips)
}

const processClock: LimiterClock = {
  now: () => performance.now(),
  after: (ms, run) => setTimeout(run, ms),
}

/**
 * With `accounting: 'learned'`, queued calls are sent in batches: once this part of the quota is free, and for as long as
 * the next unit comes free within this part of the window. The gap between two batches lies where one window ends and the
 * next begins, so a request that travels longer than others harms nothing. At an even pace any request may arrive in a
 * window that is still full, and the learned bound has to be twice as long.
 */
const batchOfQuota = 1 / 4
/** So long, too, a call of a batch waits for an open connection, since a set-up would put off the next batch. */
const breakInBatch = 1 / 10
/** In milliseconds. With a longer window a bound is a small part of it, and a batch would be far from the next one. */
const longestBatched = 10_000

class MemoryLimiter implements RateLimiter {
  readonly #clock: LimiterClock
  readonly #windows = new SlidingWindows()
  readonly #arrivals: Arrivals
  /** Between one send and the next, with `spread`; otherwise 0. */
  #interval = 0
  #lastSentAt = Number.NEGATIVE_INFINITY
  /** How many units must be free before calls that wait for one are sent again. */
  #batch = 1
  #isInBatch = false
  /** Since when a unit is free. */
  #readyAt = Infinity

  constructor(options: RateLimiterOptions, clock: LimiterClock, roundTrips?: RoundTripMemory) {
    this.#clock = clock
    this.#arrivals = new Arrivals(clock, ({ latest }, from) => this.#windows.move(from, latest), roundTrips)
    this.setPolicy(options)
  }

  setPolicy({ limits, spread, accounting, unansweredGrace }: RateLimiterOptions): void {
    this.#windows.setLimits(limits)
    const { longestSpan } = this.#windows
    this.#interval = spread ? Math.max(0, ...limits.map(({ quota, window }) => window / quota)) : 0
    this.#arrivals.setPolicy(accounting, unansweredGrace, longestSpan)
    const isBatched = accounting === 'learned' && !spread && unitSpan(longestBatched) >= longestSpan
    this.#batch = isBatched ? Math.ceil(Math.min(...limits.map(({ quota }) => quota)) * batchOfQuota) : 1
  }

  take(couldUse: number): Permit | NotBefore {
    const now = this.#clock.now()
    this.#arrivals.stillHere(now)
    const units = this.#isInBatch ? 1 : Math.min(this.#batch, couldUse)
    let wait = this.#windows.wait(now, units)
    this.#isInBatch = wait <= this.#windows.longestSpan * breakInBatch
    if (wait > 0) {
      this.#arrivals.full()
      this.#readyAt = Infinity
    } else if (this.#batch > 1) wait = this.#waitForConnection(now)
    wait = Math.max(wait, this.#lastSentAt + this.#interval - now)
    if (wait > 0) return wait
    this.#lastSentAt = now
    this.#windows.forget(now)
    return this.#permit()
  }

  /** Returns for how long a call waits for a response that leaves it an open connection. */
  #waitForConnection(now: number): number {
    if (this.#arrivals.freeConnections(now) > 0) return 0
    this.#readyAt = Math.min(this.#readyAt, now)
    return Math.max(0, this.#readyAt + this.#windows.longestSpan * breakInBatch - now)
  }

  used(): number {
    return this.#windows.used(this.#clock.now())
  }

  unitsLeft(): number {
    return this.#windows.unitsLeft(this.#clock.now())
  }

  forecast(ahead: number, lag: number, from: number = Number.NEGATIVE_INFINITY): number {
    const now = this.#clock.now()
    const start = Math.max(now, from)
    const interval = this.#interval
    // sure is only what no response can make earlier
    const slack = lag === 0 ? this.#arrivals.slack : 0
    const apart =
      interval === 0 ? 0 : Math.max(0, this.#lastSentAt + interval - start) + (ahead - 1) * interval
    return start - now + Math.max(apart, this.#windows.forecast(ahead, start, lag, slack))
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

  #permit(): Permit {
    const arrivals = this.#arrivals
    const windows = this.#windows
    const request = arrivals.send()
    windows.add(request.latest)
    return {
      answered(isRefused = false) {
        if (request.isOpen) arrivals.answered(request, isRefused)
      },
      ended() {
        if (request.isOpen) arrivals.dropped(request)
        else arrivals.freed()
      },
      cancel() {
        arrivals.dropped(request)
        windows.remove(request.latest)
      },
    }
  }
}
