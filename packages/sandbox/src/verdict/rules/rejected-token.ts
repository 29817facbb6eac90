import { plural, type Rule } from '../rule.ts'
import { timeToReact } from '../time-to-react.ts'

/** Calls with a token that ended early, after its API had said so. */
export const rejectedToken: Rule = {
  name: 'rejected-token',
  severity: 'error',
  message: (count) => `${plural(count, 'call')} brought a token that the API had refused before`,
  fix: 'Drop a token that an API refuses with 401, get a new one and send the call once more (RFC 6750 §3.1).',
  watch(report) {
    const told = new Map<string, { id: number; at: number }>()
    return {
      see({ entry, kind, token, arrivedAt, decidedAt, flaws }) {
        if (kind !== 'api' || entry.decision !== 'refused' || token === undefined || flaws.length > 0) return
        const first = told.get(token.name)
        if (first === undefined) told.set(token.name, { id: entry.id, at: decidedAt })
        else if (arrivedAt > first.at + timeToReact) report(first.id, entry.id)
      },
    }
  },
}
