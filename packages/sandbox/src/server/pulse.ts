/** How often it looks at the clock, in milliseconds. */
const interval = 10

/** Knows when this process last had time for its connections. */
export interface Pulse {
  /**
   * Returns the earliest moment at which what is read now may have arrived. That is long ago where this process was busy
   * or had to wait for a processor, and a client must not be blamed for that.
   */
  earliest(): number
  stop(): void
}

export function createPulse(now: () => number): Pulse {
  let last = now()
  const timer = setInterval(() => (last = now()), interval).unref()
  return {
    earliest: () => last,
    stop() {
      clearInterval(timer)
    },
  }
}
