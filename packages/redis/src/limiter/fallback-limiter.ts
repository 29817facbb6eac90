import {
  type Claim,
  createRateLimiter,
  isSliding,
  type LimitInForce,
  type NotBefore,
  type Permit,
  type RateLimiter,
} from '@tokenlane/core/fleet'
import type { Runtime } from './runtime.ts'

/** The factor by which a turn is longer than its part, so that neighbouring turns do not meet. */
const apart = 1.2
/** The fractional parts of this number's multiples lie evenly between 0 and 1, however many there are. */
const goldenRatio = (Math.sqrt(5) - 1) / 2
/** How late a call may be for its turn: this part of the window. */
const latenessOfWindow = 0.1

interface Share {
  readonly limits: readonly LimitInForce[]
  /** Time between the turns of a process, in milliseconds; 0 if it may send at any time. */
  readonly period: number
  readonly lateness: number
}

/**
 * What a process may send while it cannot reach Redis: its part of each quota, in its own memory.
 *
 * States: `silent` (no call goes until all that Redis granted before is out of the window), then `sharing`. Where the
 * part is less than one call in a window, each process has a turn of its own, by its number and by Redis' clock.
 */
export class FallbackLimiter {
  readonly #runtime: Runtime
  readonly #limiter: RateLimiter
  readonly #share: number
  readonly #shares = new WeakMap<Claim['limits'], Share>()
  /** By the number of this process and Redis' clock: where in a period its turns lie, from 0 to 1, and from when on. */
  #part = 0
  #offset = 0
  #silentUntil = Number.NEGATIVE_INFINITY
  #lastTurn = Number.NEGATIVE_INFINITY

  constructor(share: number, runtime: Runtime) {
    this.#share = share
    this.#runtime = runtime
    // without Redis nothing is known of the round trips of others
    this.#limiter = createRateLimiter(runtime, { shortest: 0, add() {} })
  }

  /** Sends nothing for `silence` milliseconds, and then its share. */
  begin(silence: number, member: number, offset: number): void {
    this.#silentUntil = this.#runtime.now() + silence
    this.#part = member > 0 ? (member * goldenRatio) % 1 : this.#runtime.random()
    this.#offset = offset
  }

  /** Begins to send its share in `silence` milliseconds, or earlier if planned so. */
  hasten(silence: number): void {
    this.#silentUntil = Math.min(this.#silentUntil, this.#runtime.now() + silence)
  }

  take(claim: Claim): Permit | NotBefore {
    const now = this.#runtime.now()
    if (this.#share === 0) return Infinity
    const { limits, period, lateness } = this.#shareOf(claim)
    if (now < this.#silentUntil) return this.#silentUntil - now
    const turn = this.#turnAfter(now - lateness, period)
    if (period > 0 && (turn > now || turn <= this.#lastTurn))
      return Math.max(1, (turn > now ? turn : this.#turnAfter(turn, period)) - now)
    const permit = this.#limiter.take({ ...claim, limits }, 1)
    if (typeof permit !== 'number') this.#lastTurn = turn
    return permit
  }

  forecast(claim: Claim, ahead: number, lag: number, from: number): number {
    const { limits, period } = this.#shareOf(claim)
    const start = Math.max(from, this.#silentUntil)
    const turn = period > 0 ? this.#turnAfter(start, period) : start
    return this.#limiter.forecast({ ...claim, limits }, ahead, lag, turn)
  }

  #shareOf({ limits }: Claim): Share {
    const known = this.#shares.get(limits)
    if (known !== undefined) return known
    const windows = limits.map((limit) => (isSliding(limit) ? limit.window : Infinity))
    const parts = this.#share > 0 ? limits.map((limit) => partOf(limit, this.#share)) : limits
    const longer = parts.flatMap((part, index) =>
      isSliding(part) && part.window !== windows[index] ? [part.window] : [],
    )
    const share = {
      limits: parts,
      period: apart * Math.max(0, ...longer),
      lateness: latenessOfWindow * Math.min(60_000, ...windows),
    }
    this.#shares.set(limits, share)
    return share
  }

  #turnAfter(at: number, period: number): number {
    if (period === 0) return at
    const first = this.#part * period - this.#offset
    return first + (Math.floor((at - first) / period) + 1) * period
  }
}

/** Returns the part of a limit for one process. A part of less than one call becomes one call in a longer window. */
export function partOf(limit: LimitInForce, share: number): LimitInForce {
  const calls = limit.quota * share
  // a third of 3 is 1, also in binary fractions
  const quota = Math.max(1, Math.floor(calls + 1e-9))
  return isSliding(limit) && calls < 1 - 1e-9
    ? { ...limit, quota, window: limit.window / calls }
    : { ...limit, quota }
}
