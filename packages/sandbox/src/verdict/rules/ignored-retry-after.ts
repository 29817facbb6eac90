import { plural, type Rule } from '../rule.ts'
import { timeToReact } from '../time-to-react.ts'

/** Timers may fire early by so much, in milliseconds. */
const tolerance = 50

/** Requests before the time that a 429 or 503 had asked to wait for. */
export const ignoredRetryAfter: Rule = {
  name: 'ignored-retry-after',
  severity: 'error',
  message: (count) =>
    `${plural(count, 'request was', 'requests were')} sent before the time that Retry-After had named`,
  fix: 'After a 429 or 503 send nothing to that server until Retry-After is over, whichever call got it (RFC 9110 §10.2.3).',
  watch(report) {
    const asked = new Map<string, { id: number; at: number; until: number }>()
    return {
      see({ entry, reachedAt, arrivedAt, decidedAt, retryAt }) {
        const server = `${entry.client} ${entry.target}`
        const last = asked.get(server)
        const wait = last !== undefined && arrivedAt < last.until - tolerance ? last : undefined
        if (wait !== undefined && reachedAt > wait.at + timeToReact) {
          report(wait.id, entry.id)
        }
        // a client that never waits gets many of them, and could have known since the first one
        if (retryAt !== undefined && wait === undefined) {
          asked.set(server, { id: entry.id, at: decidedAt, until: retryAt })
        }
      },
    }
  },
}
