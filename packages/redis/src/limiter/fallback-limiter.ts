import {
  createRateLimiter,
  type NotBefore,
  type Permit,
  type RateLimit,
  type RateLimiter,
  type RateLimiterOptions,
} from '@tokenlane/core/fleet'
import type { BudgetSync } from './budget-sync.ts'
import type { Runtime } from './runtime.ts'

/** By how much longer than its part a turn takes, so that processes whose turns are next to each other do not meet. */
const apart = 1.2
/** Fractional parts of the multiples of this number lie evenly between 0 and 1, for any count of multiples. */
const goldenRatio = (Math.sqrt(5) - 1) / 2
/** How late a call may be for its turn: this part of the window. */
const lateness = 0.1

/**
 * What a process may send while it cannot reach Redis: its part of each quota, in its own memory.
 *
 * States: `silent` (no call goes until all that Redis granted before is out of the window), then `sharing`. Where the
 * part is less than one call in a window, each process has a turn of its own, by its number and by Redis' clock.
 */
export class FallbackLimiter {
  readonly #runtime: Runtime
  readonly #limiter: RateLimiter
  /** Time between the turns of this process, in milliseconds; 0 if it may send at any time. */
  readonly #period: number
  readonly #lateness: number
  readonly #share: number
  #turn = 0
  #nextTurnAt = Number.NEGATIVE_INFINITY
  #silentUntil = Number.NEGATIVE_INFINITY

  constructor({ limits, ...options }: RateLimiterOptions, share: number, runtime: Runtime) {
    const { spread, accounting, unansweredGrace } = options
    const parts = share > 0 ? limits.map((limit) => shareOf(limit, share)) : []
    const turns = limits.flatMap(({ quota, window }) =>
      quota * share < 1 - 1e-9 ? [window / (quota * share)] : [],
    )
    this.#runtime = runtime
    this.#share = share
    const policy = { limits: parts, spread, accounting, unansweredGrace }
    // without Redis nothing is known of the round trips of others
    this.#limiter = createRateLimiter(policy, runtime, { shortest: 0, add() {} })
    this.#period = apart * Math.max(0, ...turns)
    this.#lateness = lateness * Math.min(...limits.map(({ window }) => window))
  }

  /** Sends nothing for `silence` milliseconds, and then its share. */
  begin(silence: number, { member, offset }: BudgetSync['turn']): void {
    this.#silentUntil = this.#runtime.now() + silence
    const part = member > 0 ? (member * goldenRatio) % 1 : this.#runtime.random()
    this.#turn = part * this.#period - offset
    this.#nextTurnAt = this.#turnAfter(this.#silentUntil)
  }

  /** Sends its share in `silence` milliseconds already, unless it does so before. */
  hasten(silence: number): void {
    const until = this.#runtime.now() + silence
    if (until >= this.#silentUntil) return
    this.#silentUntil = until
    this.#nextTurnAt = this.#turnAfter(until)
  }

  take(): Permit | NotBefore {
    const now = this.#runtime.now()
    if (this.#share === 0) return Infinity
    const wait = Math.max(this.#silentUntil, this.#nextTurnAt) - now
    if (wait > 0) return wait
    if (this.#period > 0 && now > this.#nextTurnAt + this.#lateness) {
      this.#nextTurnAt = this.#turnAfter(now)
      return this.#nextTurnAt - now
    }
    const permit = this.#limiter.take(1)
    if (typeof permit === 'number') return permit
    if (this.#period > 0) this.#nextTurnAt = this.#turnAfter(now)
    return permit
  }

  forecast(ahead: number, lag: number, from: number): number {
    const start = Math.max(from, this.#silentUntil, this.#nextTurnAt)
    return this.#limiter.forecast(ahead, lag, start)
  }

  /** Returns the first turn of this process after `at`. */
  #turnAfter(at: number): number {
    if (this.#period === 0) return Number.NEGATIVE_INFINITY
    return this.#turn + (Math.floor((at - this.#turn) / this.#period) + 1) * this.#period
  }
}

/** Returns the part of a limit for one process. A part of less than one call becomes one call in a longer window. */
export function shareOf({ quota, window }: RateLimit, share: number): RateLimit {
  const calls = quota * share
  // a third of 3 is 1, also in binary fractions
  const whole = Math.floor(calls + 1e-9)
  return whole > 0 ? { quota: whole, window } : { quota: 1, window: window / calls }
}
