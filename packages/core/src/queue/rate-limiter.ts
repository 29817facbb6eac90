import type { RemainingQuota } from './rate-limit-headers.ts'
import type { Accounting, RateLimit } from './rate-policy.ts'

/** One unit of every limit, taken for one attempt. */
export interface Permit {
  /** Notes that the response arrived, so the request has arrived before; and whether it refuses the call for the limit. */
  answered(isRefused?: boolean): void
  /** Notes that the attempt ended. Without a response its request may still be on the way. */
  ended(): void
  /** Notes that the attempt was never made: the unit is free at once. */
  cancel(): void
}

/** Milliseconds until `take` is worth calling again; `Infinity`: wait for a response, or for `unitsAvailable`. */
export type NotBefore = number

/** Decides when the next attempt may go out; which call goes is the queue's decision. */
export interface RateLimiter {
  /**
   * Returns a permit for one attempt, or when to ask again.
   *
   * @param couldUse How many attempts could go now, this one included. Called again whenever the queue changes: units
   * that were granted for calls that are gone can be returned then.
   */
  take(couldUse: number): Permit | NotBefore
  /**
   * Returns the milliseconds until the `ahead`-th attempt from now may go, by the limits alone, if no attempt goes before
   * `from`, and if each unit comes free `lag` milliseconds later than one window after its send. With a `lag` of 0 it is
   * a lower bound.
   */
  forecast(ahead: number, lag: number, from?: number): number
  /** Returns how much later than one window after its send a unit came free lately, in milliseconds, for estimates. */
  lag?(): number
  /**
   * Returns within how many milliseconds after its send a request is taken to have arrived: as assumed, or as learned
   * with `accounting: 'learned'`.
   */
  arrivesWithin?(): number
  /** Returns the share of the fullest limit that is in use, 0 to 1, for the status; `undefined` while it is not known. */
  used?(): number | undefined
  /**
   * Returns how many attempts the limits allow now, for the status and to compare with what the API says; `undefined`
   * while it is not known. Then what the API reports counts only where its reset is later than the limiter's own next
   * unit.
   */
  unitsLeft?(): number | undefined
  /**
   * Records the remaining quota that the API just reported, in the response to the permit that was answered last. A limiter
   * that several processes share compares it with what all of them sent, and grants no more than that before the reset.
   * Without this method it counts for the attempts of this process only.
   */
  reported?(quota: RemainingQuota): void
  /** The API said that its limit was passed: this process sends nothing for `ms`, and other processes should not. */
  pause?(ms: number): void
  /**
   * Lifts a pause, for every process that shares the limiter; it reports that to the others by `LimitedApi.resumed`.
   * Without this method `tokens.resume()` lifts the pause of this process only.
   */
  resume?(): void
  /**
   * Keeps another policy from now on, also for calls that wait. Units that are used stay used, and count in the
   * new limits; units that the longest window until now has forgotten do not count. Without this method `tokens.setRatePolicy()` is refused.
   */
  setPolicy?(policy: RateLimiterOptions): void
  /** No call waits any more, because the last ones gave up. */
  noWaiters?(): void
  /** Shuts the limiter down, after the last attempt. Resolves once pending updates are flushed; must not reject. */
  close?(): Promise<void>
}

/** Which limits hold, and how. */
export interface RateLimiterOptions {
  readonly limits: readonly RateLimit[]
  readonly spread: boolean
  readonly accounting: Accounting
  /** As in a rate policy. */
  readonly unansweredGrace?: number | undefined
}
