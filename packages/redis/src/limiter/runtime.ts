import { Countdown, type LimiterClock, longestTimer, type Moment, moment } from '@tokenlane/core/fleet'

/** Time and chance, as a limiter sees them: the process's own, or those of a simulation. */
export interface Runtime extends LimiterClock {
  /** Returns what both clocks show: while a machine sleeps, the monotonic one may stand still. */
  moment(): Moment
  /** Runs `run` after `ms` milliseconds, unless what it returns is called. A timer with `idle` does not keep the process alive. */
  after(ms: number, run: () => void, idle?: boolean): () => void
  /** Runs `run` once the process had `ms` milliseconds, unless it is stopped: a time in which it was frozen does not count. */
  countdown(ms: number, run: () => void): Pick<Countdown, 'left' | 'stop'>
  /** Returns a number from 0 to below 1. */
  random(): number
}

export const processRuntime: Runtime = {
  now: () => performance.now(),
  moment,
  after(ms, run, idle = false) {
    const timer = setTimeout(run, Math.min(Math.max(1, Math.ceil(ms)), longestTimer))
    if (idle) timer.unref()
    return () => clearTimeout(timer)
  },
  countdown: (ms, run) => new Countdown(ms, run),
  random: () => Math.random(),
}

/** Returns for how long something has been so at most, in milliseconds: by the clock on which more time has passed. */
export function longestSince({ wall, monotonic }: Moment, now: Moment): number {
  return Math.max(now.wall - wall, now.monotonic - monotonic)
}
