import type { SeenRequest } from '../journal/entry.ts'

/** A connection that its client closed. */
export interface SeenClose {
  /** The last request on it. */
  last: SeenRequest
  /** When, on the sandbox's own clock. */
  at: number
}

/** Says that a client broke the rule once; the ids of the journal are the evidence. */
type Report = (...evidence: readonly number[]) => void

/** Watches all requests for one mistake. It keeps little, however long the sandbox runs. */
export interface Watcher {
  see(request: SeenRequest): void
  seeClose?(close: SeenClose): void
  /** What is wrong as long as nothing else happens: ids of the journal. */
  open?(): readonly number[]
}

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
  watch: (report: Report) => Watcher
}

/** `1 call`, `2 calls`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
}
