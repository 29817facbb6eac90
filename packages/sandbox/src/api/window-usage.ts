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
