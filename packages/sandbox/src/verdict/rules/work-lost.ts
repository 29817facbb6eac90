import { perRealm, type Realm } from '../../realm.ts'
import { BoundedMap } from '../../bounded-map.ts'
import { plural } from '../../in-words.ts'
import { isTyped, type Rule } from '../rule.ts'

const remembered = 10_000

/** How long a refused call must wait for a new token while its issuer fails, in milliseconds. */
const longestOutage = 10_000

interface LostCall {
  id: number
  realm: Realm
  /** When its token was refused; `undefined` for a call over the rate limit, which needs no new token. */
  refusedAt: number | undefined
  isNote: boolean
}

const isOver = ({ refusedAt }: LostCall, now: number): boolean =>
  refusedAt !== undefined && now - refusedAt >= longestOutage

/**
 * Calls that were refused or limited, and not sent again with a token that the API accepts. A fault that control has set
 * excuses a call: one that it met when it was sent again, and one of the issuer as long as it keeps a new token from the
 * client.
 */
export const workLost: Rule = {
  name: 'work-lost',
  severity: 'error',
  message: (count) => `${plural(count, 'call was', 'calls were')} refused, and never succeeded afterwards`,
  fix: 'After a 401, send the call again with a new token. After a 429, send it again once the requested wait is over.',
  watch() {
    const lost = new BoundedMap<LostCall>(remembered)
    /** Whether the last request to each issuer met a fault. */
    const fails = perRealm(() => false)
    return {
      see({ entry: { id, client, decision, target }, kind, realm, call, decidedAt, flaws }) {
        if (kind === 'issuer') {
          if (decision === 'failed' || decision === 'left') fails[realm] = true
          if (decision !== 'issued') return
          if (fails[realm]) lost.deleteWhere((each) => each.realm === realm && isOver(each, decidedAt))
          fails[realm] = false
        }
        if (kind !== 'api') return
        const isNote = isTyped(client)
        // a person who looks at what an API says without a token
        if (isNote && flaws.includes('missing-token')) return
        const key = `${target} ${call}`
        if (decision === 'refused') lost.set(key, { id, realm, refusedAt: decidedAt, isNote })
        else if (decision === 'limited') lost.set(key, { id, realm, refusedAt: undefined, isNote })
        else lost.delete(key)
      },
      open: () =>
        lost
          .values()
          .filter(({ realm, refusedAt }) => refusedAt === undefined || !fails[realm])
          .map(({ id, isNote }) => ({ evidence: [id], isNote })),
    }
  },
}
