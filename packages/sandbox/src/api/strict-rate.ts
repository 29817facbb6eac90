/** One limit of a rate policy. */
export interface RateLimit {
  /** How many calls may arrive in any window; at least 1. */
  quota: number
  /** Length of the sliding window, in milliseconds. */
  window: number
}

/** How an API guards its rate. All limits hold at once. */
export interface StrictRatePolicy {
  limits: readonly RateLimit[]
  /**
   * Whether a 429 says in a `Retry-After` field how many whole seconds to wait.
   *
   * @defaultValue true
   */
  retryAfter?: boolean
}

/** Counts every call at the moment of its arrival, allowed or not. */
export interface StrictRate {
  /**
   * Records a call that arrives now.
   *
   * @returns `undefined` if every limit holds, else after how many milliseconds a next call would fit.
   */
  arrive(): number | undefined
  /** Per limit, the most calls that any window saw since the last `forgetMaxima()`. */
  maxima(): number[]
  /** Starts the maxima anew. The calls inside of the windows stay counted. */
  forgetMaxima(): void
}

interface SlidingWindow {
  max: number
  arrive(at: number): number | undefined
}

/** A call that arrives exactly one window after another one is no longer in a window with it. */
function createSlidingWindow({ quota, window }: RateLimit): SlidingWindow {
  let arrivals: number[] = []
  let oldest = 0

  return {
    max: 0,
    arrive(at) {
      arrivals.push(at)
      while (at - arrivals[oldest]! >= window) oldest += 1
      if (oldest >= 1_000) {
        arrivals = arrivals.slice(oldest)
        oldest = 0
      }
      const inWindow = arrivals.length - oldest
      this.max = Math.max(this.max, inWindow)
      return inWindow > quota ? arrivals.at(-quota)! + window - at : undefined
    },
  }
}

export function createStrictRate(limits: readonly RateLimit[], now: () => number): StrictRate {
  const windows = limits.map((limit) => createSlidingWindow(limit))

  return {
    arrive() {
      const at = now()
      const waits = windows.map((window) => window.arrive(at)).filter((wait) => wait !== undefined)
      return waits.length > 0 ? Math.max(...waits) : undefined
    },
    maxima: () => windows.map((window) => window.max),
    forgetMaxima() {
      for (const window of windows) window.max = 0
    },
  }
}
