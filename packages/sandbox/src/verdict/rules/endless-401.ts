import { BoundedMap } from '../bounded-map.ts'
import { plural, type Rule } from '../rule.ts'

const inARow = 10
/** A call that comes later than this after its 401 is made anew, not retried, in milliseconds. */
const longestPause = 5_000
const rememberedCalls = 5_000

/** The same call, sent again and again after a 401. */
export const endless401: Rule = {
  name: 'endless-401',
  severity: 'error',
  message: (count) => `${plural(count, 'call was', 'calls were')} sent again after ten 401s in a row`,
  fix: 'After a 401, send the call once more with a new token, and pass a second 401 on to the caller.',
  watch(report) {
    const refused = new BoundedMap<{ times: number; id: number; at: number }>(rememberedCalls)
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
        if (times > inARow) report(before?.id ?? entry.id, entry.id)
        refused.set(key, { times, id: entry.id, at: decidedAt })
      },
    }
  },
}
