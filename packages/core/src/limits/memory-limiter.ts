import { refuse, shape } from '../options/check.ts'
import { Arrivals, type LimiterClock, type SentRequest } from './arrivals.ts'
import {
  type Answer,
  type Claim,
  type FixedLimit,
  isSliding,
  type LimitedApi,
  type LimitInForce,
  type NotBefore,
  type Permit,
  type RateLimiter,
  type RateLimiterFactory,
  type Usage,
} from './rate-limiter.ts'
import type { RoundTripMemory } from './round-trips.ts'
import { inexact, Series, unitSpan } from './series.ts'

/**
 * Creates a limiter that keeps units in this process's memory, on the monotonic clock or, in a simulation, on another one.
 *
 * A unit is freed one window after the latest time at which its request can have arrived; `Arrivals` says when that is, and why no
 * window of the server's then holds more than the quota.
 *
 * @param roundTrips of every request that the API counts; by default only this limiter's.
 */
export function createRateLimiter(
  clock: LimiterClock = processClock,
  roundTrips?: RoundTripMemory,
): RateLimiter {
  return new MemoryLimiter(clock, roundTrips)
}

/** Returns the limiter that `create` makes, else one in this process's memory. @throws `INVALID_OPTIONS` */
export function limiterOf(create: RateLimiterFactory | undefined, api: LimitedApi): RateLimiter {
  if (create === undefined) return createRateLimiter()
  const limiter = create(api) as RateLimiter | undefined
  for (const name of ['take', 'forecast', 'usage', 'tell', 'close'] as const)
    if (typeof limiter?.[name] !== 'function')
      refuse(`limiter().${name}`, shape(limiter?.[name]), 'a function')
  return limiter as RateLimiter
}

const processClock: LimiterClock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}

/**
 * With `accounting: 'learned'`, queued calls are sent in batches: once this part of the quota is free, and for as long as
 * the next unit comes free within this part of the window. The gap between two batches lies where one window ends and the
 * next begins, so a request that travels longer than others harms nothing. At an even pace any request may arrive in a
 * window that is still full, and the learned bound has to be twice as long.
 */
const batchOfQuota = 1 / 4
/** As long as this, a call of a batch also waits for an open connection: a set-up would put off the next batch. */
const breakInBatch = 1 / 10
/** In milliseconds. With a longer window a bound is a small part of it, and a batch would be far from the next one. */
const longestBatched = 10_000
/** After this many more series, those without a unit are dropped. */
const mostUnused = 100

interface Window {
  readonly quota: number
  readonly series: Series
  /** How long a unit counts at most, in milliseconds. */
  readonly span: number
  /** Set for a limit between two moments. */
  readonly fixed: FixedLimit | undefined
}

interface Counted {
  readonly windows: readonly Window[]
  readonly series: readonly Series[]
  readonly longestSpan: number
  /** How many units must be free before calls that wait for one are sent again. */
  readonly batch: number
}

class MemoryLimiter implements RateLimiter {
  readonly #clock: LimiterClock
  readonly #series = new Map<string, Series>()
  #counted = new WeakMap<readonly LimitInForce[], Counted>()
  #keptSeries = 0
  readonly #arrivals: Arrivals<MemoryPermit>
  #lastSentAt = Number.NEGATIVE_INFINITY
  #isInBatch = false
  /** Since when a unit is free. */
  #readyAt = Infinity

  constructor(clock: LimiterClock, roundTrips?: RoundTripMemory) {
    this.#clock = clock
    this.#arrivals = new Arrivals(
      clock,
      ({ units, latest }, from) => {
        for (const series of units.series) series.move(from, latest, units.cost)
      },
      roundTrips,
    )
  }

  take(claim: Claim, wanted: number): Permit | NotBefore {
    if (wanted === 0) return Infinity
    const now = this.#clock.now()
    this.#arrivals.stillHere(now)
    const { cost, interval } = claim
    const counted = this.#count(claim)
    const { windows, series, longestSpan, batch } = counted
    const units = this.#isInBatch || batch === 1 ? cost : Math.max(cost, Math.min(batch, wanted * cost))
    let wait = 0
    for (const window of windows) wait = Math.max(wait, waitFor(window, now, units, cost))
    this.#isInBatch = wait <= longestSpan * breakInBatch
    if (wait > 0) {
      this.#arrivals.full()
      this.#readyAt = Infinity
    } else if (batch > 1) wait = this.#waitForConnection(now, longestSpan)
    if (interval > 0) wait = Math.max(wait, this.#lastSentAt + interval - now)
    if (wait > 0) return wait
    this.#lastSentAt = now
    const permit = new MemoryPermit(this.#arrivals, series, cost, now)
    for (const each of series) each.add(permit.request.latest, cost, now)
    return permit
  }

  #waitForConnection(now: number, longestSpan: number): number {
    if (this.#arrivals.freeConnections(now) > 0) return 0
    this.#readyAt = Math.min(this.#readyAt, now)
    return Math.max(0, this.#readyAt + longestSpan * breakInBatch - now)
  }

  forecast(claim: Claim, ahead: number, lag: number, from: number = Number.NEGATIVE_INFINITY): number {
    const now = this.#clock.now()
    const start = Math.max(now, from)
    const { interval, cost } = claim
    // sure is only what no response can make earlier
    const slack = lag === 0 ? this.#arrivals.slack : 0
    let wait = interval === 0 ? 0 : Math.max(0, this.#lastSentAt + interval - start) + (ahead - 1) * interval
    for (const window of this.#count(claim).windows)
      wait = Math.max(wait, forecastOf(window, ahead * cost, start, lag, slack))
    return start - now + wait
  }

  usage(claim: Claim, at: number = this.#clock.now()): Usage {
    const { lag, bound } = this.#arrivals
    return { used: this.#count(claim).windows.map((window) => inUse(window, at)), lag, arrivesWithin: bound }
  }

  tell(): void {}

  async close(): Promise<void> {}

  #count({ limits, interval, accounting, unansweredGrace }: Claim): Counted {
    const known = this.#counted.get(limits)
    if (known !== undefined) return known
    const windows = limits.map((limit) => {
      const series = this.#seriesOf(limit.series)
      const { quota } = limit
      const [span, fixed] = isSliding(limit) ? [unitSpan(limit.window)] : [limit.until - limit.since, limit]
      series.span = Math.max(series.span, span)
      return { quota, series, span, fixed }
    })
    const longestSpan = Math.max(0, ...windows.map(({ span, fixed }) => (fixed ? 0 : span)))
    this.#arrivals.setPolicy(accounting, unansweredGrace, longestSpan)
    const isBatched = accounting === 'learned' && interval === 0 && unitSpan(longestBatched) >= longestSpan
    const counted = {
      windows,
      series: [...new Set(windows.map(({ series }) => series))],
      longestSpan,
      batch:
        isBatched && windows.length > 0
          ? Math.ceil(Math.min(...limits.map(({ quota }) => quota)) * batchOfQuota)
          : 1,
    }
    this.#counted.set(limits, counted)
    return counted
  }

  #seriesOf(name: string): Series {
    const known = this.#series.get(name)
    if (known !== undefined) return known
    if (this.#series.size >= this.#keptSeries + mostUnused) this.#dropUnused()
    const series = new Series()
    this.#series.set(name, series)
    return series
  }

  /** Drops the series without a unit that counts: there may be one for each customer. */
  #dropUnused(): void {
    const now = this.#clock.now()
    for (const [name, series] of this.#series)
      if (series.after(now - series.span) === 0) this.#series.delete(name)
    this.#keptSeries = this.#series.size
    this.#counted = new WeakMap()
  }
}

/** Units of some series, which move as it becomes known when their request can have arrived. */
class MemoryPermit implements Permit {
  readonly series: readonly Series[]
  cost: number
  readonly request: SentRequest<MemoryPermit>
  readonly #arrivals: Arrivals<MemoryPermit>

  constructor(arrivals: Arrivals<MemoryPermit>, series: readonly Series[], cost: number, now: number) {
    this.series = series
    this.cost = cost
    this.#arrivals = arrivals
    this.request = arrivals.send(this, now)
  }

  answered(answer: Answer): void {
    if (!this.request.isOpen) return
    this.#arrivals.answered(this.request, answer)
    if (answer.cost !== this.cost) this.#settle(answer.cost)
  }

  ended(): void {
    this.#arrivals.ended(this.request)
  }

  cancel(): void {
    this.#arrivals.ended(this.request)
    this.#settle(0)
  }

  #settle(cost: number): void {
    const { latest, sentAt } = this.request
    for (const series of this.series) {
      series.remove(latest, this.cost)
      if (cost > 0) series.add(latest, cost, sentAt)
    }
    this.cost = cost
  }
}

function inUse({ series, span, fixed }: Window, now: number): number {
  return series.after(fixed ? fixed.since : now - span)
}

/** Returns when this number of the units in use at `now` has come free: between two moments all at once. */
function freeAt({ series, span, fixed }: Window, units: number, now: number): number {
  return fixed ? fixed.until : series.timeOf(units, now - span) + span
}

/** Returns the milliseconds until this number of units is free; `cost` of them at least. */
function waitFor(window: Window, now: number, units: number, cost: number): number {
  const { quota, fixed } = window
  const missing = inUse(window, now) + Math.min(fixed ? cost : units, quota) - quota
  return missing <= inexact ? 0 : Math.max(fixed ? 1 : 0, freeAt(window, missing, now) - now)
}

/**
 * Returns how long it takes from `start` on until this number of units has come free.
 *
 * @param lag how much later than one window after its send a further unit comes free.
 * @param slack how much earlier than now known the units in use may come free.
 */
function forecastOf(window: Window, units: number, start: number, lag: number, slack: number): number {
  const { quota, span, fixed } = window
  const known = inUse(window, start + slack)
  const used = Math.min(known, quota)
  // after the quota was lowered, the first units that come free make no room
  const surplus = known - used
  const beyond = units - (quota - used)
  if (beyond <= inexact) return 0
  const rounds = Math.ceil((beyond - inexact) / quota) - 1
  const round = fixed ? span : span + lag
  const next = freeAt(window, beyond - rounds * quota + surplus, start + slack) - (fixed ? 0 : slack)
  // a call without a response so far takes no longer than one that is sent now
  return Math.max(0, Math.min(round, next - start)) + rounds * round
}
