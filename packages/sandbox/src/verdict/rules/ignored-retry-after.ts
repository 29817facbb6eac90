import { plural } from '../../in-words.ts'
import { type Rule, timeToReact } from '../rule.ts'

/** By how much a timer of a client may fire early, in milliseconds. */
const tolerance = 50

/** Requests before the end of the wait that a 429 or 503 response had ordered. */
export const ignoredRetryAfter: Rule = {
  name: 'ignored-retry-after',
  severity: 'error',
  message: (count) =>
    `${plural(count, 'request was', 'requests were')} sent before the Retry-After time had passed`,
  fix: 'After a 429 or 503, send nothing to that server until the Retry-After time has passed, whichever call received the response (RFC 9110 §10.2.3).',
  watch(report) {
    const asked = new Map<string, { id: number; at: number; until: number }>()
    return {
      see({ entry, reachedAt, arrivedAt, decidedAt, retryAt }) {
        const server = `${entry.client} ${entry.target}`
        const last = asked.get(server)
        const wait = last !== undefined && arrivedAt < last.until - tolerance ? last : undefined
        if (wait !== undefined && reachedAt > wait.at + timeToReact) {
          report({ evidence: [wait.id, entry.id] })
        }
        // the first response counts: a client that never waits gets many of them
        if (retryAt !== undefined && wait === undefined) {
          asked.set(server, { id: entry.id, at: decidedAt, until: retryAt })
        }
      },
    }
  },
}
