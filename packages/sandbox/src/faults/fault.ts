/** How long a fault lasts: until either bound is reached, or until it is restored if there is none. */
export interface FaultSpan {
  /** How long from now, in milliseconds. Default: no end. */
  for?: number
  /** How many requests. Default: all. */
  times?: number
}

/** Holds at most one fault, the one set last. */
export interface FaultSlot<Fault> {
  set(fault: Fault, span: FaultSpan): void
  clear(): void
  /** The fault that meets the request that arrives now, if any. */
  take(): Fault | undefined
}

/** Asks the clock when a request arrives, so that no timer has to end a fault. */
export function createFaultSlot<Fault>(now: () => number): FaultSlot<Fault> {
  let current: { fault: Fault; until: number; left: number } | undefined

  return {
    set(fault, span) {
      current = { fault, until: now() + (span.for ?? Infinity), left: span.times ?? Infinity }
    },
    clear() {
      current = undefined
    },
    take() {
      if (current === undefined) return undefined
      const { fault, until } = current
      if (now() >= until || current.left === 0) {
        current = undefined
        return undefined
      }
      current.left -= 1
      return fault
    },
  }
}
