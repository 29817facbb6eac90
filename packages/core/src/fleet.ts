// What a shared token store and a shared rate limiter are made of.
export type { SharedStore, StoreClaim, StoreEntry, TokenStore } from './store/token-store.ts'
export { sharedStore, type StoreKey } from './store/shared-store.ts'
export type { StoreFailure } from './events.ts'
export { TokenlaneError } from './errors.ts'
export { createRateLimiter } from './limits/memory-limiter.ts'
export {
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
  type SharedServer,
  type SlidingLimit,
  type Usage,
  type Word,
} from './limits/rate-limiter.ts'
export type { Accounting } from './limits/rate-policy.ts'
// The rules of the proof that a server never counts too many calls. Each is written once, here.
export { unitSpan } from './limits/series.ts'
export {
  enoughRoundTrips,
  type RoundTripMemory,
  RoundTrips,
  type RoundTripSum,
  shortestOf,
  together,
} from './limits/round-trips.ts'
export { Arrivals, defaultGrace, type LimiterClock, type SentRequest } from './limits/arrivals.ts'
export { Countdown } from './time/countdown.ts'
export { refuse, refusingTo } from './options/check.ts'
export { type Description, duration, fitting, object, optional, type Reader } from './options/reader.ts'
export { longestTimer } from './time/duration.ts'
export { later, type Moment, moment } from './time/expiry.ts'
