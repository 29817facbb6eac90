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

/** Says what a run is about to do: how many calls, with which clients, at which limits, with which tokens. */
export function opening({ duration, lifetime, ratePolicies, pages }: Run): string {
  const limits = (api: keyof Pace['ratePolicies']): string =>
    ratePolicies[api].limits
      .map(({ quota, window }) => `${quota} in ${typeof window === 'number' ? seconds(window) : window}`)
      .join(' and ')
  return [
    `${pages.general + pages.weblink} calls in ${seconds(duration)} with axios, fetch, got and ky, against a local sandbox.`,
    `Tokens live ${seconds(lifetime)}; they expire, are revoked, and one issuer fails for a while.`,
    `Limits: general API ${limits('general')}, weblink API ${limits('weblink')}.`,
  ].join('\n')
}

const seconds = (milliseconds: number): string =>
  `${(milliseconds / 1_000).toLocaleString('en-US', { maximumFractionDigits: 2 })} s`

interface Run extends Pace {
  /** How long the run lasts, in milliseconds. */
  duration: number
  /** How long each token lives, in milliseconds. */
  lifetime: number
}
