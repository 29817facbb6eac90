import { number, optional, time, wholeNumber, type Allowed } from '../allowed.ts'
import type { Random } from './latency.ts'

/** How long a fault lasts, and which requests meet it. Without a bound, it lasts until control restores the server. */
export interface FaultSpan {
  /** How long from now, in milliseconds. Default: no end. */
  for?: number
  /** How many requests meet it. Default: all. */
  times?: number
  /** How many of a hundred requests meet it, at random; 0 to 100. Default: all. */
  percent?: number
}

type Entries<Value> = { readonly [Key in keyof Value]-?: Allowed<Value[Key]> }

/** Schema entries of a span, for schemas of objects that extend `FaultSpan`. */
export const spanEntries: Entries<FaultSpan> = {
  for: optional(time()),
  times: optional(wholeNumber({ min: 1 })),
  percent: optional(number({ min: 0, max: 100 })),
}

interface CurrentFault<Fault> {
  fault: Fault
  timeLeft: number | null
  timesLeft: number | null
  percent: number
}

/** Holds at most one fault: the last one set. */
export interface FaultSlot<Fault> {
  set(fault: Fault, span: FaultSpan): void
  clear(): void
  /** Returns the fault for a request that arrives now, and counts the request; `undefined` without a fault for it. */
  take(): Fault | undefined
  current(): CurrentFault<Fault> | undefined
}

/** Makes a fault slot. It reads the clock when a request arrives, so that it needs no timer. */
export function createFaultSlot<Fault>(now: () => number, random: Random = Math.random): FaultSlot<Fault> {
  let set: { fault: Fault; until: number; left: number; percent: number } | undefined

  /** Forgets a fault that is over, and returns the fault that is set. */
  const look = () => {
    if (set !== undefined && (now() >= set.until || set.left === 0)) set = undefined
    return set
  }

  return {
    set(fault, span) {
      const { for: ms = Infinity, times = Infinity, percent = 100 } = span
      set = { fault, until: now() + ms, left: times, percent }
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
