import type { Pace } from './pace.ts'

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
