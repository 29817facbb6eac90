// The last minute, sampled whenever the sandbox says how it is: what the charts draw.
import { signal } from '@preact/signals'
import type { Realm, SandboxState } from '../../src/index.ts'

/** One moment of an API. */
export interface ApiSample {
  /** Seconds since 1970. */
  readonly at: number
  /** Calls in the window, one number for each limit, as the API counts them. */
  readonly used: readonly number[]
  /** Calls that were answered 401 and 429 since the sample before. */
  readonly rejected: number
  readonly limited: number
}

/** One moment of an issuer: what happened since the sample before. */
export interface IssuerSample {
  readonly at: number
  readonly issued: number
  readonly refused: number
  readonly failed: number
}

const span = 60
const realms: readonly Realm[] = ['general', 'weblink']

/** Counts up with every sample, so that charts know when to draw. */
export const ticks = signal(0)
export const apiHistory: Record<Realm, ApiSample[]> = { general: [], weblink: [] }
export const issuerHistory: Record<Realm, IssuerSample[]> = { general: [], weblink: [] }

let last: SandboxState | undefined

/** Takes a sample. */
export function remember(state: SandboxState): void {
  const at = Date.parse(state.at) / 1_000
  for (const realm of realms) {
    const api = state.apis[realm]
    const issuer = state.issuers[realm]
    const apiBefore = last?.apis[realm].counts ?? api.counts
    const issuerBefore = last?.issuers[realm].counts ?? issuer.counts
    keep(apiHistory[realm], at, {
      at,
      used: api.windows.map(({ used }) => used),
      rejected: since(api.counts.rejected, apiBefore.rejected),
      limited: since(api.counts.limited, apiBefore.limited),
    })
    keep(issuerHistory[realm], at, {
      at,
      issued: since(issuer.counts.issued, issuerBefore.issued),
      refused: since(issuer.counts.refused, issuerBefore.refused),
      failed: since(issuer.counts.failed, issuerBefore.failed),
    })
  }
  last = state
  ticks.value += 1
}

/** Begins anew, with another sandbox. */
export function forget(): void {
  last = undefined
  for (const realm of realms) {
    apiHistory[realm].length = 0
    issuerHistory[realm].length = 0
  }
}

/** Counts may have been set to zero meanwhile. */
const since = (now: number, before: number): number => (now < before ? now : now - before)

function keep<Sample extends { readonly at: number }>(samples: Sample[], now: number, sample: Sample): void {
  samples.push(sample)
  while ((samples[0]?.at ?? now) < now - span) samples.shift()
}
