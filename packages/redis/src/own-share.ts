import { createRateLimiter, type LimitedApi, type RateLimit, type RateLimiter } from '@tokenlane/core/fleet'

/** What one process may do by itself: its part of each quota, in its own memory. */
export function createOwnShare({ limits, ...options }: LimitedApi, share: number): RateLimiter {
  return createRateLimiter({ ...options, limits: limits.map((limit) => shareOf(limit, share)) })
}

/** Less than one call in a window is one call in a longer one. */
export function shareOf({ quota, window }: RateLimit, share: number): RateLimit {
  const calls = quota * share
  // a third of 3 is 1, also in binary fractions
  const whole = Math.floor(calls + 1e-9)
  return whole > 0 ? { quota: whole, window } : { quota: 1, window: window / calls }
}
