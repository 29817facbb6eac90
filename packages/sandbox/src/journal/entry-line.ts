import type { JournalEntry } from './entry.ts'

/** Returns an entry on one line: its id, when it arrived (UTC), where, and what was decided and why. */
export function entryLine({ id, at, target, method, path, reason }: JournalEntry): string {
  return `${id}  ${at.slice(11, 23)}  ${target}  ${method === null ? 'TLS' : `${method} ${path}`}: ${reason}`
}
