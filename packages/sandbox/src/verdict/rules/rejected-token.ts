import { BoundedMap } from '../../bounded-map.ts'
import { plural } from '../../in-words.ts'
import { type Rule, timeToReact } from '../rule.ts'

const rememberedTokens = 1_000
const rememberedConnections = 1_000

/** Calls with a token that ended early, after its API had refused it. */
export const rejectedToken: Rule = {
  name: 'rejected-token',
  severity: 'error',
  message: (count) => `${plural(count, 'call')} sent a token that the API had already refused`,
  fix: 'Drop a token that an API refuses with 401, get a new one, and send the call once more (RFC 6750 §3.1).',
  watch(report) {
    const refusals = new BoundedMap<{ id: number; at: number; connections: Set<number> }>(rememberedTokens)
    return {
      see({ entry, kind, token, reachedAt, decidedAt, onConnection, flaws }) {
        if (kind !== 'api' || entry.decision !== 'refused' || token === undefined || flaws.length > 0) return
        const first = refusals.get(token.name)
        if (first === undefined) {
          const connections = new Set([entry.connection])
          return refusals.set(token.name, { id: entry.id, at: decidedAt, connections })
        }
        // on an older connection it may be another program with the same token, which has not heard of the refusal
        const mayNotKnow = onConnection > 1 && !first.connections.has(entry.connection)
        if (!mayNotKnow && reachedAt > first.at + timeToReact) report({ evidence: [first.id, entry.id] })
        if (first.connections.size < rememberedConnections) first.connections.add(entry.connection)
      },
    }
  },
}
