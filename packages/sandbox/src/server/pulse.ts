/** How often the pulse reads the clock, in milliseconds. */
const interval = 10

/** Records when this process last had time to read from its connections. */
export interface Pulse {
  /**
   * Returns the earliest time at which bytes that are read now may have arrived. That is long ago if this process was
   * busy or had no processor. The verdict must not count such a delay as a mistake of the client.
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
