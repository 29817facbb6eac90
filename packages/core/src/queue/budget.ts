import type { NotBefore, Permit } from './rate-limiter.ts'
import type { ResponseHead } from './rate-limit-headers.ts'
import type { SentCall } from './api-pauses.ts'
import type { CheckedPolicy } from './rate-policy.ts'

/** A call that holds a unit of a budget. */
export interface SpentUnit extends SentCall {
  readonly permit: Permit
}

/** What one queue may send: by the limits of its API, and by the pauses that the API asks for. */
export interface Budget {
  /** When the pause of the API ends or ended, on the monotonic clock. */
  readonly pausedUntil: number
  /** The order of the call that goes next. */
  readonly nextOrder: number
  /** Whether a new budget in its place would allow as many calls now. */
  readonly isUnspent: boolean
  /** Returns for how many milliseconds no call may go, 0 if one may; `Infinity` until the budget serves the queue. */
  pausedFor(now: number): number
  /** As `RateLimiter.take`. */
  take(couldUse: number): Permit | NotBefore
  /** Notes that a call goes out. */
  sent(call: SentCall): void
  /** Takes the response to a call, and returns whether the API refused the call for its limit. */
  answered(call: SpentUnit, response: ResponseHead): boolean
  /** Takes the unit back of a call that ended, or that was never sent. */
  left(call: SpentUnit, sent: boolean): void
  /** As `RateLimiter.forecast`. */
  forecast(ahead: number, roundTrip: number, from?: number): number
  /** As `RateLimiter.used`; `undefined` where the limiter does not know. */
  used(): number | undefined
  /** As `RateLimiter.unitsLeft`; `undefined` where the limiter does not know. */
  unitsLeft(): number | undefined
  /** Lifts a pause that the API asked for. */
  resume(): void
  /** @throws TokenlaneError `INVALID_OPTIONS` if the limiter cannot keep another policy. */
  setPolicy(policy: CheckedPolicy): void
  /** Notes that no call of the queue waits any more, because the last ones gave up. */
  noWaiters(): void
  /** Ends what the queue holds of the budget, after its last call. */
  close(): Promise<void>
}
