import type { JournalEntry } from '@tokenlane/sandbox'

import type { EndedCall } from './call.ts'

export interface JournalCheck {
  /** What must not be, in words, each at most ten times. */
  readonly broken: string[]
  /** The most sends of one call. */
  readonly mostSends: number
  /** Calls that were sent more than once. */
  readonly resent: number
}

const idInPath = /\/(c\d+(?:\/hop)?)$/

/**
 * After these a call may be sent again: the API did not process it. axios follows a redirect by itself, so that a 401
 * after it sends the call again from its beginning.
 */
const mayGoAgain = new Set([302, 307, 401, 429])

/** Two more for 401s, three more for 429s. */
const mostSendsAllowed = 6

/** Compares what callers were told with what reached the APIs. */
export function checkJournal(entries: readonly JournalEntry[], calls: readonly EndedCall[]): JournalCheck {
  const sends = new Map<string, JournalEntry[]>()
  for (const entry of entries) {
    const id = entry.target.endsWith('-api') ? idInPath.exec(entry.path ?? '')?.[1] : undefined
    if (id === undefined) continue
    const known = sends.get(id)
    if (known === undefined) sends.set(id, [entry])
    else known.push(entry)
  }

  const counts = new Map<string, number>()
  const broken: string[] = []
  const report = (rule: string, { client, realm, kind, id }: EndedCall, more: string): void => {
    const count = (counts.get(rule) ?? 0) + 1
    counts.set(rule, count)
    if (count <= 10) broken.push(`${rule}: ${client} ${kind} ${realm} ${id}, ${more}`)
  }
  let mostSends = 0
  let resent = 0
  for (const call of calls) {
    for (const id of [call.id, `${call.id}/hop`]) {
      const all = sends.get(id) ?? []
      const story = all.map(({ status, decision }) => `${status} ${decision}`).join(', ')
      mostSends = Math.max(mostSends, all.length)
      if (all.length > 1) resent += 1
      if (all.slice(0, -1).some(({ status }) => !mayGoAgain.has(status ?? 0)))
        report('sent again after it may have been processed', call, story)
      if (all.length > mostSendsAllowed) report('sent too often', call, story)
      if (call.kind === 'stream' && all.length > 1) report('a stream was sent again', call, story)
    }
    const reached = [...(sends.get(call.id) ?? []), ...(sends.get(`${call.id}/hop`) ?? [])]
    if (call.outcome === 'ok' && !reached.some(({ status }) => status !== null && status < 400))
      report('succeeded without reaching the API', call, `${reached.length} sends`)
  }
  return { broken, mostSends, resent }
}
