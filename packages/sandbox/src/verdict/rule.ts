import { plural } from '../in-words.ts'
import type { SeenClose, SeenRequest } from '../journal/entry.ts'

/** An `error` costs calls or tokens, or shows a secret; a `warning` costs time; a `note` is right for a command typed by hand. */
export type Severity = 'error' | 'warning' | 'note'

/** One time that the rule was broken, with the ids of journal entries that show it. */
export interface Broken {
  evidence: readonly number[]
  isNote?: boolean
}

/** Reports that a client broke the rule once. */
type Report = (broken: Broken) => void

/** Keeps journal entries as evidence, for a report that may come later. */
type Keep = (...evidence: readonly number[]) => void

/** Watches all requests for one mistake. Its memory stays small in a sandbox that runs for days. */
export interface Watcher {
  see(request: SeenRequest): void
  seeClose?(close: SeenClose): void
  /** Returns the evidence of each time that the rule is broken now, and that a later request may still put right. */
  open?(): readonly Broken[]
}

/** A finding has at most this many journal entries as its evidence: the first. */
export const mostEvidence = 10

export interface Rule {
  name: string
  severity: Severity
  /** What happened, in plain words. */
  message: (count: number) => string
  /** What to change in the client. */
  fix: string
  /** How often it must happen before it is a finding. Default: once. */
  least?: number
  watch: (report: Report, keep: Keep) => Watcher
}

/** Returns whether a person probably typed the request: such a program runs once for each, and may know no token. */
export function isTyped(client: string): boolean {
  return /^(?:curl|Wget|HTTPie|xh|tokenlane)(?:\/|$)/.test(client)
}

/** Returns how many findings there are of each severity, such as `2 errors, 1 warning`. */
export function severities(findings: readonly { severity: Severity }[]): string {
  const counts = (['error', 'warning', 'note'] as const).map(
    (severity) => [severity, findings.filter((one) => one.severity === severity).length] as const,
  )
  const shown = counts.filter(([severity, length]) => length > 0 || severity !== 'note')
  return shown.map(([severity, length]) => plural(length, severity)).join(', ')
}

/** How long after a response a client may still send requests that it had prepared before, in milliseconds. */
export const timeToReact = 500
