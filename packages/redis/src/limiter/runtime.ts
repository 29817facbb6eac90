import { longestTimer } from '@tokenlane/core/fleet'

/** A timer that was set. */
export interface Timer {
  cancel(): void
}

/** Time and chance, as a limiter sees them: the process's own, or those of a simulation. */
export interface Runtime {
  /** Milliseconds on a monotonic clock. */
  now(): number
  /** Runs `run` after `ms` milliseconds. A timer with `idle` does not keep the process alive. */
  after(ms: number, run: () => void, idle?: boolean): Timer
  /** Returns a number from 0 to below 1. */
  random(): number
  /** Returns a name that no other process has. */
  name(): string
}

export const processRuntime: Runtime = {
  now: () => performance.now(),
  after(ms, run, idle = false) {
    const timer = setTimeout(run, Math.min(Math.max(1, Math.ceil(ms)), longestTimer))
    if (idle) timer.unref()
    return { cancel: () => clearTimeout(timer) }
  },
  random: () => Math.random(),
  name: () => globalThis.crypto.randomUUID(),
}
