import { mustBeObject, refuse, shape } from '../options/check.ts'
import type { Emit } from '../events.ts'
import type { SharedServer } from '../store/shared-server.ts'
import { createRateLimiter } from './memory-limiter.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { Accounting, CheckedPolicy, RateLimit } from './rate-policy.ts'

/** What a limiter is made for: one API, its policy, and how to report a change to the queue. */
export interface LimitedApi {
  /** Origin and path prefix, as the WHATWG URL parser writes it. The same for every process of a fleet. */
  readonly baseUrl: string
  /** All of them hold at once; may be empty. */
  readonly limits: readonly RateLimit[]
  readonly spread: boolean
  /** With `send` the limiter calls `answered` on a permit as soon as it is taken. */
  readonly accounting: Accounting
  /** Milliseconds for a request that got no response; by default as `createUnansweredGrace` says. */
  readonly unansweredGrace?: number | undefined
  /** Units came free: the queue calls `take` again, before this returns. Not to be called from within `take`. */
  unitsAvailable(): void
  /** The API asked another process to pause: no call goes out for `ms` milliseconds. */
  paused(ms: number): void
  /** Another process lifted the pause: calls may go out again. */
  resumed(): void
  /** The shared budget cannot be reached; this process keeps to its own share. `reason` must hold no secret. */
  failed(reason: string): void
  /** The shared budget is in use again. */
  recovered(): void
}

/**
 * Creates the limiter of an API that has a rate policy; called at start-up, once for each.
 *
 * The limiter keeps every limit, and `spread`, however it is called. It holds nothing that keeps the process alive
 * while no call waits or is under way.
 */
export interface RateLimiterFactory {
  (api: LimitedApi): RateLimiter
  /** As `TokenStore.server`. */
  server?: () => Promise<SharedServer>
}

/** Which limiter an API has, for which policy, and where its failures are reported. */
export interface LimiterChoice {
  /** The `baseUrl` of the API. */
  readonly api: string
  readonly policy: CheckedPolicy
  readonly emit: Emit
  /** `undefined`: the limits are kept in this process's memory. */
  readonly limiter: RateLimiterFactory | undefined
}

/**
 * Returns the limiter of an API.
 *
 * @param changes what the limiter calls when it allows more or less than before.
 * @throws TokenlaneError `INVALID_OPTIONS` if the factory returns what cannot be a limiter.
 */
export function limiterFor(
  { api, policy, emit, limiter: create }: LimiterChoice,
  changes: Pick<LimitedApi, 'unitsAvailable' | 'paused' | 'resumed'>,
): RateLimiter {
  const { limits, spread, accounting, unansweredGrace } = policy
  const options = { limits, spread, accounting, unansweredGrace }
  if (create === undefined) return createRateLimiter(options)
  const limiter: unknown = create({
    baseUrl: api,
    ...options,
    ...changes,
    failed: (reason) => emit?.({ type: 'limiter.failed', api, reason }),
    recovered: () => emit?.({ type: 'limiter.recovered', api }),
  })
  mustBeObject(limiter, 'limiter()')
  for (const name of ['take', 'forecast'])
    if (typeof limiter[name] !== 'function') refuse(`limiter().${name}`, shape(limiter[name]), 'a function')
  return limiter as unknown as RateLimiter
}
