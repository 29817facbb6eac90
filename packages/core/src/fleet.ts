// What a shared token store and a shared rate limiter are made of.
export type { SharedServer, SharedStore, StoreClaim, StoreEntry, TokenStore } from './store/token-store.ts'
export { sharedStore, type StoreKey } from './store/shared-store.ts'
export type { StoreFailure } from './events.ts'
export { TokenlaneError } from './errors.ts'
export { createRateLimiter } from './queue/memory-limiter.ts'
export type { RemainingQuota } from './queue/rate-limit-headers.ts'
export type {
  LimitedApi,
  NotBefore,
  Permit,
  RateLimiter,
  RateLimiterFactory,
  RateLimiterOptions,
} from './queue/rate-limiter.ts'
export type { RateLimit, RatePolicy } from './queue/rate-policy.ts'
// The rules of the proof that a server never counts too many calls. Each is written once, here.
export { unitSpan } from './queue/sliding-windows.ts'
export {
  noRoundTrips,
  type RoundTripMemory,
  RoundTrips,
  type RoundTripSum,
  shortestOf,
  together,
} from './queue/round-trips.ts'
export { Arrivals, defaultGrace, type LimiterClock, type SentRequest } from './queue/arrivals.ts'
export { longestTimer } from './time/timers.ts'
