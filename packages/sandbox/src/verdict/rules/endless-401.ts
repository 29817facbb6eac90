import { BoundedMap } from '../../bounded-map.ts'
import { plural } from '../../in-words.ts'
import type { Rule } from '../rule.ts'

const inARow = 10
/** A call that comes later than this after its 401 is made anew, as by a poller, not retried, in milliseconds. */
const longestPause = 500
/** Several calls of one URL that are sent again a few times take less than this, in milliseconds. */
const leastTime = 1_500
const rememberedCalls = 5_000

/** The same call, sent again at once after each 401, for longer than a few callers of one URL would take. */
export const endless401: Rule = {
  name: 'endless-401',
  severity: 'error',
  message: (count) => `${plural(count, 'call was', 'calls were')} sent again and again after 401s`,
  fix: 'After a 401, send the call once more with a new token, and pass a second 401 on to the caller.',
  watch(report) {
    const refused = new BoundedMap<{ times: number; since: number; id: number; at: number }>(rememberedCalls)
    return {
      see({ entry, kind, call, arrivedAt, decidedAt }) {
        if (kind !== 'api') return
        const key = `${entry.client} ${entry.target} ${call}`
        if (entry.status !== 401) return refused.delete(key)
        const before = refused.get(key)
        // calls that are under way at the same time are not retries of each other
        if (before !== undefined && arrivedAt < before.at) return
        const isRetry = before !== undefined && arrivedAt - before.at <= longestPause
        const times = isRetry ? before.times + 1 : 1
        const since = isRetry ? before.since : arrivedAt
        if (times > inARow && arrivedAt - since >= leastTime)
          report({ evidence: [before?.id ?? entry.id, entry.id] })
        refused.set(key, { times, since, id: entry.id, at: decidedAt })
      },
    }
  },
}
