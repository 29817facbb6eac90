import { BoundedMap } from '../bounded-map.ts'
import { plural, type Rule } from '../rule.ts'

const remembered = 10_000

/** Calls that were refused or limited, and have not succeeded since. */
export const workLost: Rule = {
  name: 'work-lost',
  severity: 'error',
  message: (count) => `${plural(count, 'call was', 'calls were')} refused, and never succeeded afterwards`,
  fix: 'Send a call again with a new token after a 401, and after a 429 once the wait is over.',
  watch() {
    const lost = new BoundedMap<number>(remembered)
    return {
      see({ entry, kind, call }) {
        if (kind !== 'api') return
        const key = `${entry.target} ${call}`
        if (entry.decision === 'refused' || entry.decision === 'limited') lost.set(key, entry.id)
        else if (entry.decision === 'answered' && (entry.status ?? 500) < 400) lost.delete(key)
      },
      open: () => lost.values().map((id) => [id]),
    }
  },
}
