import { milliseconds, number, optional, wholeNumber, type Allowed } from '../allowed.ts'
import type { Random } from './random.ts'

/** How long a fault lasts and which requests it meets: until a bound is reached or, without a bound, until it is restored. */
export interface FaultSpan {
  /** How long from now, in milliseconds. Default: no end. */
  for?: number
  /** How many requests meet it. Default: all. */
  times?: number
  /** How many of a hundred requests meet it, at random; 0 to 100. Default: all. */
  percent?: number
}

type Entries<Value> = { readonly [Key in keyof Value]-?: Allowed<Value[Key]> }

/** To be spread into the entries of what has a span. */
export const spanEntries: Entries<FaultSpan> = {
  for: optional(milliseconds),
  times: optional(wholeNumber({ min: 1 })),
  percent: optional(number({ min: 0, max: 100 })),
}

/** The fault that is set, and what is left of it. `null` where there is no bound. */
interface CurrentFault<Fault> {
  fault: Fault
  /** In milliseconds. */
  timeLeft: number | null
  timesLeft: number | null
  percent: number
}

/** Holds at most one fault, the one set last. */
export interface FaultSlot<Fault> {
  set(fault: Fault, span: FaultSpan): void
  clear(): void
  /** The fault that meets the request that arrives now, if any. */
  take(): Fault | undefined
  current(): CurrentFault<Fault> | undefined
}

/** Asks the clock when a request arrives, so that no timer has to end a fault. */
export function createFaultSlot<Fault>(now: () => number, random: Random = Math.random): FaultSlot<Fault> {
  let set: { fault: Fault; until: number; left: number; percent: number } | undefined

  /** Forgets a fault that is over. */
  const look = () => {
    if (set !== undefined && (now() >= set.until || set.left === 0)) set = undefined
    return set
  }

  return {
    set(fault, span) {
      const { for: time = Infinity, times = Infinity, percent = 100 } = span
      set = { fault, until: now() + time, left: times, percent }
    },
    clear() {
      set = undefined
    },
    take() {
      const found = look()
      if (found === undefined || (found.percent < 100 && random() * 100 >= found.percent)) return undefined
      found.left -= 1
      return found.fault
    },
    current() {
      const found = look()
      if (found === undefined) return undefined
      const { fault, until, left, percent } = found
      return {
        fault,
        timeLeft: until === Infinity ? null : until - now(),
        timesLeft: left === Infinity ? null : left,
        percent,
      }
    },
  }
}
