import { mustBeObject, refuse, shape } from '../options/check.ts'
import type { Emit } from '../events.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { Accounting, RateLimit } from './rate-policy.ts'

/** What a limiter is made for: one API, its policy, and how to tell the calls that wait of a change. */
export interface LimitedApi {
  /** Origin and path prefix, as the WHATWG URL parser writes it. The same for every process of a fleet. */
  readonly baseUrl: string
  /** All of them hold at once; may be empty. */
  readonly limits: readonly RateLimit[]
  readonly spread: boolean
  /** With `send` the permit is told that it was answered as soon as it is taken. */
  readonly accounting: Accounting
  /** Milliseconds for a request that got no response; by default as `createUnansweredGrace` says. */
  readonly unansweredGrace?: number | undefined
  /** Units came free: `take` is asked again, from within, by whoever waits. Never to be called from within `take`. */
  changed(): void
  /** Somebody else was told to pause: nothing goes out for so many milliseconds. */
  paused(ms: number): void
  /** Another process lifted the pause: calls may go out again. */
  resumed(): void
  /** The budget that is shared cannot be reached, and this process keeps to its own share. `reason` has no secret. */
  failed(reason: string): void
  /** The budget is shared again. */
  recovered(): void
}

/**
 * Makes the limiter of an API that has a rate policy, at start-up, once for each.
 *
 * The limiter keeps every limit, and `spread`, whatever it is asked. It holds nothing that keeps the process alive
 * while no call waits or is under way.
 */
export type RateLimiterFactory = (api: LimitedApi) => RateLimiter

/** Ends the start-up unless it can be a limiter. */
export function checkLimiter(limiter: unknown): RateLimiter {
  mustBeObject(limiter, 'limiter()')
  for (const name of ['take', 'forecast'])
    if (typeof limiter[name] !== 'function') refuse(`limiter().${name}`, shape(limiter[name]), 'a function')
  return limiter as unknown as RateLimiter
}

/** What a limiter tells an operator, as events. */
export function limiterEvents(api: string, emit: Emit): Pick<LimitedApi, 'failed' | 'recovered'> {
  return {
    failed: (reason) => emit?.({ type: 'limiter.failed', api, reason }),
    recovered: () => emit?.({ type: 'limiter.recovered', api }),
  }
}
