// The last minute: what the charts draw. It begins with the journal, and is sampled whenever the sandbox says how it is.
import { signal } from '@preact/signals'
import type { Decision, JournalEntry, Realm, SandboxState } from '../../src/index.ts'

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
/** About as often as the sandbox says how it is, in milliseconds. */
const step = 500
const realms: readonly Realm[] = ['general', 'weblink']

/** Counts up with every sample, so that charts know when to draw. */
export const ticks = signal(0)
export const apiHistory: Record<Realm, ApiSample[]> = { general: [], weblink: [] }
export const issuerHistory: Record<Realm, IssuerSample[]> = { general: [], weblink: [] }

let last: SandboxState | undefined

/** Makes samples of the minute before `state` from the journal, as if the page had been open. */
export function recall(entries: readonly JournalEntry[], state: SandboxState): void {
  const end = Date.parse(state.at)
  for (const realm of realms) {
    const of = (kind: 'issuer' | 'api'): { at: number; entry: JournalEntry }[] =>
      entries
        .filter(({ target }) => target === `${realm}-${kind}`)
        .map((entry) => ({ at: Date.parse(entry.at), entry }))
    const [requests, calls] = [of('issuer'), of('api')]
    for (let to = end - span * 1_000 + step; to <= end; to += step) {
      const within = (list: typeof calls, ms: number): JournalEntry[] =>
        list.filter(({ at }) => at > to - ms && at <= to).map(({ entry }) => entry)
      const [asked, called] = [within(requests, step), within(calls, step)]
      apiHistory[realm].push({
        at: to / 1_000,
        used: state.apis[realm].windows.map(({ window }) => within(calls, window).length),
        rejected: called.filter(({ status }) => status === 401).length,
        limited: count(called, 'limited'),
      })
      issuerHistory[realm].push({
        at: to / 1_000,
        issued: count(asked, 'issued'),
        refused: count(asked, 'refused'),
        failed: count(asked, 'failed', 'left'),
      })
    }
  }
  last = state
  ticks.value += 1
}

const count = (entries: readonly JournalEntry[], ...decisions: Decision[]): number =>
  entries.filter(({ decision }) => decisions.includes(decision)).length

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
