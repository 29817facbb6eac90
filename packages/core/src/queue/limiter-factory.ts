import { mustBeObject, refuse, shape } from '../options/check.ts'
import type { SharedServer } from '../store/token-store.ts'
import { createRateLimiter } from './memory-limiter.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { Accounting, RateLimit } from './rate-policy.ts'

/** One API with a rate policy, and how its limiter reports changes to the queue. */
export interface LimitedApi {
  /** Origin and path prefix, as the WHATWG URL parser writes it. The same for every process of a fleet. */
  readonly baseUrl: string
  /** All of them apply at once; may be empty. */
  readonly limits: readonly RateLimit[]
  readonly spread: boolean
  readonly accounting: Accounting
  /** As in a rate policy. */
  readonly unansweredGrace?: number | undefined
  /** Units were freed: the queue calls `take` again before this returns. Must not be called from within `take`. */
  unitsAvailable(): void
  /** The API asked another process to pause: no call goes out for `ms` milliseconds. */
  paused(ms: number): void
  /** Another process lifted the pause: calls may go out again. */
  resumed(): void
  /** The shared budget cannot be reached; this process uses only its own share. `reason` must hold no secret. */
  failed(reason: string): void
  /** The shared budget is in use again. */
  recovered(): void
}

/**
 * Creates the limiter of an API that has a rate policy; called once per API, at start-up.
 *
 * The limiter enforces every limit, and `spread`, no matter when or how often `take` is called. It must not keep the process alive while no
 * call waits or is under way.
 */
export interface RateLimiterFactory {
  (api: LimitedApi): RateLimiter
  /** As `TokenStore.server`. */
  server?: () => Promise<SharedServer>
}

/**
 * Returns the limiter of an API.
 *
 * @param create makes it; without it the limits are kept in this process's memory.
 * @throws TokenlaneError `INVALID_OPTIONS` if the factory returns what cannot be a limiter.
 */
export function limiterFor(api: LimitedApi, create: RateLimiterFactory | undefined): RateLimiter {
  if (create === undefined) return createRateLimiter(api)
  const limiter: unknown = create(api)
  mustBeObject(limiter, 'limiter()')
  for (const name of ['take', 'forecast'])
    if (typeof limiter[name] !== 'function') refuse(`limiter().${name}`, shape(limiter[name]), 'a function')
  return limiter as unknown as RateLimiter
}
