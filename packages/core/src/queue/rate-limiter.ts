import type { SharedServer } from '../store/token-store.ts'
import type { RemainingQuota } from './rate-limit-headers.ts'
import type { Accounting, RateLimit } from './rate-policy.ts'

/** One unit of every limit, taken for one attempt. */
export interface Permit {
  /**
   * Notes that the response arrived (so the request arrived before that), and whether it refuses the call for the
   * limit.
   */
  answered(isRefused?: boolean): void
  /** Notes that the attempt ended. Without a response its request may still be on the way. */
  ended(): void
  /** Notes that the attempt was never made: the unit is free at once. */
  cancel(): void
}

/** Milliseconds until `take` is worth calling again; `Infinity`: wait for a response, or for `unitsAvailable`. */
export type NotBefore = number

/** Decides when the next attempt may be sent; the queue decides which call that is. */
export interface RateLimiter {
  /**
   * Returns a permit for one attempt, or when to ask again.
   *
   * @param couldUse How many attempts could be sent now, including this one. Called again whenever the queue changes: units
   * that were granted for calls that are gone can be returned then.
   */
  take(couldUse: number): Permit | NotBefore
  /**
   * Returns how many milliseconds from now the `ahead`-th attempt may go, by the limits alone, if no attempt goes
   * before `from` and each unit is freed `lag` milliseconds later than one window after its send. With a `lag` of 0
   * this is a lower bound.
   */
  forecast(ahead: number, lag: number, from?: number): number
  /**
   * Returns how much later than one window after its send a unit has recently been freed, in milliseconds. For
   * estimates.
   */
  lag?(): number
  /**
   * Returns how many milliseconds after its send a request counts as arrived: as assumed, or as learned with
   * `accounting: 'learned'`; `undefined` while it is not known.
   */
  arrivesWithin?(): number | undefined
  /** Returns the used share of the fullest limit, 0 to 1, for the status; `undefined` while it is not known. */
  used?(): number | undefined
  /**
   * Returns how many attempts the limits allow now, for the status and to compare with what the API says; `undefined`
   * while it is not known. In that case, a report from the API counts only if it resets later than this limiter frees its
   * next unit.
   */
  unitsLeft?(): number | undefined
  /**
   * Records the remaining quota that the API just reported, in the response to the most recently answered permit. A
   * limiter shared by several processes compares it with what all of them sent, and grants no more than that before the
   * reset. Without this method it only applies to this process's attempts.
   */
  reported?(quota: RemainingQuota): void
  /**
   * The API said that its limit is used up: this process sends nothing for `ms`, and neither should other processes.
   */
  pause?(ms: number): void
  /**
   * Lifts a pause, for every process that shares the limiter; it reports that to the others by `LimitedApi.resumed`.
   * Without this method, `tokens.resume()` only lifts this process's pause.
   */
  resume?(): void
  /**
   * Enforces another policy from now on, for waiting calls too. Used units stay used and count towards the new limits;
   * units older than the longest window so far do not count. Without this method `tokens.setRatePolicy()` is refused.
   */
  setPolicy?(policy: RateLimiterOptions): void
  /** No calls are waiting any more, because the last ones gave up. */
  noWaiters?(): void
  /** Shuts the limiter down, after the last attempt. Resolves once pending updates are flushed; must not reject. */
  close?(): Promise<void>
}

/** Which limits apply, and how. */
export interface RateLimiterOptions {
  /** All of them apply at once; may be empty. */
  readonly limits: readonly RateLimit[]
  readonly spread: boolean
  readonly accounting: Accounting
  /** As in a rate policy. */
  readonly unansweredGrace?: number | undefined
}

/** One API with a rate policy, and how its limiter reports changes to the queue. */
export interface LimitedApi extends RateLimiterOptions {
  /** Origin and path prefix, as the WHATWG URL parser writes it. The same for every process of a fleet. */
  readonly baseUrl: string
  /** Units were freed: the queue calls `take` again before this returns. Must not be called from within `take`. */
  unitsAvailable(): void
  /** The API asked another process to pause: no call is sent for `ms` milliseconds. */
  paused(ms: number): void
  /** Another process lifted the pause: calls may be sent again. */
  resumed(): void
  /** The shared budget cannot be reached; this process uses only its own share. `reason` must hold no secret. */
  failed(reason: string): void
  /** The shared budget is in use again. */
  recovered(): void
}

/**
 * Creates the limiter of an API that has a rate policy; called once per API, at start-up.
 *
 * The limiter enforces every limit, and `spread`, no matter when or how often `take` is called. It must not keep the
 * process alive while no call waits or is under way.
 */
export interface RateLimiterFactory {
  (api: LimitedApi): RateLimiter
  /** As `TokenStore.server`. */
  server?: () => Promise<SharedServer>
}
