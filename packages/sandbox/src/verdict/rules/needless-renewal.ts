import type { LedgerEntry } from '../../issuer/token-ledger.ts'
import { perRealm } from '../../realm.ts'
import { plural, type Rule } from '../rule.ts'

/** Token requests while a token had more than half of its life left and no API had refused it. */
export const needlessRenewal: Rule = {
  name: 'needless-renewal',
  severity: 'error',
  message: (count) =>
    `${plural(count, 'token was', 'tokens were')} requested while another one had more than half of its life left`,
  fix: 'Keep the token for all callers until shortly before it expires, and drop it after a 401 only if it is still the current one.',
  watch(report) {
    const newest = perRealm((): { token?: LedgerEntry; id: number; refused: boolean } => ({
      id: 0,
      refused: false,
    }))
    return {
      see({ entry, kind, realm, token, beganAt }) {
        const last = newest[realm]
        if (kind === 'api') {
          if (entry.status === 401 && token !== undefined && token === last.token) last.refused = true
          return
        }
        if (entry.decision !== 'issued' || token === undefined) return
        if (last.token !== undefined && !last.refused && isFresh(last.token, beganAt))
          report(last.id, entry.id)
        newest[realm] = { token, id: entry.id, refused: false }
      },
    }
  },
}

/**
 * Returns whether a token had more than half of its life left at this time; `false` before it was issued, because a token
 * request that began then is a stampede.
 */
function isFresh({ issuedAt, expiresAt, revokedAt, lifetime }: LedgerEntry, at: number): boolean {
  return at >= issuedAt && expiresAt - at > lifetime / 2 && (revokedAt === undefined || revokedAt > at)
}
