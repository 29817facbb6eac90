import type { SeenRequest } from '../journal/entry.ts'

/** A connection that its client closed. */
export interface SeenClose {
  /** The last request on it. */
  last: SeenRequest
  /** When it was closed, on the sandbox's own clock. */
  at: number
}

/** Reports that a client broke the rule once. The ids of the journal entries are the evidence. */
type Report = (...evidence: readonly number[]) => void

/** Keeps journal entries as evidence, for a report that may come later. */
type Keep = (...evidence: readonly number[]) => void

/** Watches all requests for one mistake. Its memory stays small in a sandbox that runs for days. */
export interface Watcher {
  see(request: SeenRequest): void
  seeClose?(close: SeenClose): void
  /** Returns the evidence of each time that the rule is broken now, and that a later request may still put right. */
  open?(): readonly (readonly number[])[]
}

/** A finding has at most this many journal entries as its evidence: the first. */
export const mostEvidence = 10

/** One mistake that clients make. */
export interface Rule {
  name: string
  /** An `error` costs calls or tokens, or shows a secret; a `warning` costs time. */
  severity: 'error' | 'warning'
  /** What happened, in plain words. */
  message: (count: number) => string
  /** What to change in the client. */
  fix: string
  /** How often it must happen before it is a finding. Default: once. */
  least?: number
  watch: (report: Report, keep: Keep) => Watcher
}

/** Returns `1 call` or `2 calls`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
}
