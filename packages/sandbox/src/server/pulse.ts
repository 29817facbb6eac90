/** How often the pulse reads the clock, in milliseconds. */
const interval = 10
/** For how long a machine that had no time for this process counts as busy, in milliseconds. */
const remembered = 1_000

export interface Pulse {
  /**
   * Returns the earliest time at which bytes that are read now may have been sent. That is long ago if this process was
   * busy or had no processor, and its client perhaps had none either. The verdict must not count such a delay as a mistake
   * of the client.
   */
  earliest(): number
  stop(): void
}

export function createPulse(now: () => number): Pulse {
  let last = now()
  let stalls: { at: number; ms: number }[] = []
  const timer = setInterval(() => {
    const at = now()
    stalls = stalls.filter((stall) => at - stall.at < remembered)
    if (at - last > 2 * interval) stalls.push({ at, ms: at - last })
    last = at
  }, interval).unref()
  return {
    earliest: () => last - Math.max(0, ...stalls.map(({ ms }) => ms)),
    stop() {
      clearInterval(timer)
    },
  }
}
