import type { RatePolicy } from '@tokenlane/core'
import type { Realm } from '@tokenlane/sandbox'

/** How fast each API may be read, and how many pages a run of some length reads. */
export interface Pace {
  ratePolicies: Record<Realm, RatePolicy & { limits: { quota: number; window: number }[] }>
  pages: Record<Realm, number>
}

/**
 * Weblink allows 25 calls a second, evenly spread. The general API allows 3 a second and 180 a minute, here with a
 * minute that is as long as the run.
 *
 * @param duration How long the run lasts, in milliseconds.
 */
export function paceOf(duration: number): Pace {
  const second = duration / 60
  return {
    ratePolicies: {
      general: {
        limits: [
          { quota: 3, window: second },
          { quota: 180, window: 60 * second },
        ],
      },
      weblink: { limits: [{ quota: 25, window: 1_000 }], spread: true },
    },
    // what fits into the run with the time that an outage costs
    pages: { general: Math.floor(duration / 80), weblink: Math.floor(duration / 55) },
  }
}
