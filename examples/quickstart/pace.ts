import type { RatePolicy } from '@tokenlane/core'
import type { Realm } from '@tokenlane/sandbox'

/** How fast each API may be read, and how many pages a run of some length reads. */
export interface Pace {
  ratePolicies: Record<Realm, RatePolicy & { limits: { quota: number; window: number }[] }>
  pages: Record<Realm, number>
}

/** About how long a call takes here, in milliseconds. */
const roundTrip = 40

/** The APIs and all clients share this one process, which may stand still: a request may arrive as late as it likes. */
const unansweredGrace = 60_000

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
        unansweredGrace,
      },
      weblink: { limits: [{ quota: 25, window: 1_000 }], spread: true, unansweredGrace },
    },
    // about what fits: a unit comes free one window after the answer, and an outage takes its time
    pages: {
      general: Math.floor((0.85 * duration) / ((second + roundTrip) / 3)),
      weblink: Math.floor((0.75 * duration) / ((1_000 + roundTrip) / 25)),
    },
  }
}
