import * as v from 'valibot'

import {
  either,
  list,
  object,
  oneOf,
  optional,
  time,
  trueOrFalse,
  wholeNumber,
  type Allowed,
} from '../allowed.ts'

/** One limit of a rate policy. */
export interface RateLimit {
  /** How many calls may arrive in any window; at least 1. */
  quota: number
  /** Length of the sliding window, in milliseconds. */
  window: number
}

/** How full one window is. */
export interface WindowUsage extends RateLimit {
  /** Calls that arrived in the window that ends now, allowed or not. */
  used: number
  /** After how many milliseconds the next call would fit; 0 if one fits now. */
  wait: number
  /** After how many milliseconds the oldest call leaves the window; 0 if it is empty. */
  reset: number
}

/**
 * Headers in which an API states its rate limits:
 *
 * - `'ratelimit'`: `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers, from revision 8)
 * - `'ratelimit-limit'`: `RateLimit-Limit`, `-Remaining`, `-Reset` in seconds (revisions up to 6)
 * - `'x-ratelimit'`: `X-RateLimit-Limit`, `-Remaining`, `-Reset` as seconds since 1970, as GitHub sends them
 * - `'x-ratelimit-seconds'`: the same, but with `-Reset` as the number of seconds left
 */
export type RateHeaderDialect = 'ratelimit' | 'ratelimit-limit' | 'x-ratelimit' | 'x-ratelimit-seconds'

const rateHeaderDialects: readonly RateHeaderDialect[] = [
  'ratelimit',
  'ratelimit-limit',
  'x-ratelimit',
  'x-ratelimit-seconds',
]

/** The rate policy that an API enforces. All limits apply at once. */
export interface StrictRatePolicy {
  limits: readonly RateLimit[]
  /**
   * Whether a 429 has a `Retry-After` header that says how long to wait: with `true` or `'seconds'` in whole seconds, with
   * `'date'` as an HTTP date.
   *
   * @defaultValue true
   */
  retryAfter?: boolean | 'seconds' | 'date'
  /**
   * Rate limit headers of every response, in one or several dialects.
   *
   * @defaultValue []
   */
  headers?: readonly RateHeaderDialect[]
}

export const ratePolicy: Allowed<StrictRatePolicy> = object<StrictRatePolicy>({
  limits: v.pipe(
    list(
      object<RateLimit>({
        quota: wholeNumber({ min: 1 }),
        window: time({ min: 1 }),
      }),
    ),
    v.minLength(1, 'an array of one or more limits'),
  ),
  retryAfter: optional(
    either<[boolean, 'seconds' | 'date']>(
      [trueOrFalse, oneOf(['seconds', 'date'])],
      "true or false, 'seconds' or 'date'",
    ),
  ),
  headers: optional(list(oneOf(rateHeaderDialects))),
})

/** Counts calls in a sliding window. A call that arrives exactly one window after another one no longer counts with it. */
class SlidingWindow {
  readonly #limit: RateLimit
  #arrivals: number[] = []
  #oldest = 0
  max = 0

  constructor(limit: RateLimit) {
    this.#limit = limit
  }

  arrive(at: number): number | undefined {
    let place = this.#arrivals.length
    while (place > this.#oldest && this.#arrivals[place - 1]! > at) place -= 1
    this.#arrivals.splice(place, 0, at)
    const inWindow = this.#slide(at)
    this.max = Math.max(this.max, inWindow)
    return inWindow > this.#limit.quota ? this.#waitFrom(at) : undefined
  }

  usage(at: number): WindowUsage {
    const { quota, window } = this.#limit
    const used = this.#slide(at)
    const reset = used === 0 ? 0 : this.#arrivals[this.#oldest]! + window - at
    return { quota, window, used, wait: used >= quota ? this.#waitFrom(at) : 0, reset }
  }

  /** Forgets the calls that have left the window, and returns how many remain. */
  #slide(at: number): number {
    while (at - (this.#arrivals[this.#oldest] ?? at) >= this.#limit.window) this.#oldest += 1
    // one by one would be slow
    if (this.#oldest >= 1_000) {
      this.#arrivals.splice(0, this.#oldest)
      this.#oldest = 0
    }
    return this.#arrivals.length - this.#oldest
  }

  #waitFrom(at: number): number {
    return this.#arrivals.at(-this.#limit.quota)! + this.#limit.window - at
  }
}

/** Counts every call at the moment of its arrival, allowed or not. */
export class StrictRate {
  readonly #windows: readonly SlidingWindow[]
  readonly #now: () => number

  constructor(limits: readonly RateLimit[], now: () => number) {
    this.#windows = limits.map((limit) => new SlidingWindow(limit))
    this.#now = now
  }

  /**
   * Records a call that arrives now, or arrived `at` a moment ago.
   *
   * @returns `undefined` if every limit holds; otherwise after how many milliseconds the next call would fit.
   */
  arrive(at: number = this.#now()): number | undefined {
    const waits = this.#windows.map((window) => window.arrive(at)).filter((wait) => wait !== undefined)
    return waits.length > 0 ? Math.max(...waits) : undefined
  }

  usage(): WindowUsage[] {
    const at = this.#now()
    return this.#windows.map((window) => window.usage(at))
  }

  maxima(): number[] {
    return this.#windows.map(({ max }) => max)
  }

  /** Resets the maxima. The calls inside the windows still count. */
  forgetMaxima(): void {
    for (const window of this.#windows) window.max = 0
  }
}
