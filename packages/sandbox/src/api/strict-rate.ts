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
import { rateHeaderDialects, type RateHeaderDialect } from './rate-headers.ts'

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

/** Counts every call at the moment of its arrival, allowed or not. */
export interface StrictRate {
  /**
   * Records a call that arrives now, or arrived `at` a moment ago.
   *
   * @returns `undefined` if every limit holds; otherwise after how many milliseconds the next call would fit.
   */
  arrive(at?: number): number | undefined
  /** Returns for each limit how full its window is now. */
  usage(): WindowUsage[]
  /** Returns for each limit the highest number of calls in any window since the last `forgetMaxima()`. */
  maxima(): number[]
  /** Resets the maxima. The calls inside the windows still count. */
  forgetMaxima(): void
}

interface SlidingWindow {
  max: number
  arrive(at: number): number | undefined
  usage(at: number): WindowUsage
}

/** Counts calls in a sliding window. A call that arrives exactly one window after another one no longer counts with it. */
function createSlidingWindow({ quota, window }: RateLimit): SlidingWindow {
  let arrivals: number[] = []
  let oldest = 0

  /** Forgets the calls that have left the window, and returns how many remain. */
  const slide = (at: number): number => {
    while (oldest < arrivals.length && at - arrivals[oldest]! >= window) oldest += 1
    if (oldest >= 1_000) {
      arrivals = arrivals.slice(oldest)
      oldest = 0
    }
    return arrivals.length - oldest
  }
  const waitFrom = (at: number): number => arrivals.at(-quota)! + window - at

  return {
    max: 0,
    arrive(at) {
      let place = arrivals.length
      while (place > oldest && arrivals[place - 1]! > at) place -= 1
      arrivals.splice(place, 0, at)
      const inWindow = slide(at)
      this.max = Math.max(this.max, inWindow)
      return inWindow > quota ? waitFrom(at) : undefined
    },
    usage(at) {
      const used = slide(at)
      return {
        quota,
        window,
        used,
        wait: used >= quota ? waitFrom(at) : 0,
        reset: used === 0 ? 0 : arrivals[oldest]! + window - at,
      }
    },
  }
}

export function createStrictRate(limits: readonly RateLimit[], now: () => number): StrictRate {
  const windows = limits.map((limit) => createSlidingWindow(limit))

  return {
    arrive(at = now()) {
      const waits = windows.map((window) => window.arrive(at)).filter((wait) => wait !== undefined)
      return waits.length > 0 ? Math.max(...waits) : undefined
    },
    usage() {
      const at = now()
      return windows.map((window) => window.usage(at))
    },
    maxima: () => windows.map((window) => window.max),
    forgetMaxima() {
      for (const window of windows) window.max = 0
    },
  }
}
