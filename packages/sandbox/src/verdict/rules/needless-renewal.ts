import type { LedgerEntry } from '../../journal/entry.ts'
import { perRealm } from '../../realm.ts'
import { plural, type Rule } from '../rule.ts'
import { TokenPairs } from '../token-pairs.ts'

/** A token that no later one has replaced yet. */
interface Current {
  token: LedgerEntry
  id: number
  refused: boolean
}

/** Programs, each with a token of its own, that are told apart. */
const mostPrograms = 100

/** Token requests while no token was old, and no API had refused one. */
export const needlessRenewal: Rule = {
  name: 'needless-renewal',
  severity: 'error',
  message: (count) =>
    `${plural(count, 'token was', 'tokens were')} requested while another one had more than half its lifetime left`,
  fix: 'Share the token between all callers until shortly before it expires, and drop it after a 401 only if it is still the current one. Programs that run one after another need a shared place to keep it.',
  watch(report, keep) {
    const current = perRealm((): Current[] => [])
    const pairs = new TokenPairs()
    return {
      see(request) {
        const { entry, kind, realm, token, beganAt, decidedAt } = request
        for (const { first, evidence } of pairs.see(request))
          current[realm].unshift({ token: first, id: evidence[0] ?? entry.id, refused: false })
        if (token === undefined) return
        if (kind === 'api') {
          const holder = current[realm].find((each) => each.token === token)
          if (entry.status === 401 && holder !== undefined) holder.refused = true
          return
        }
        if (entry.decision !== 'issued') return
        const due = current[realm].find((each) => each.refused || !isFresh(each.token, beganAt))
        const replaced = due ?? current[realm].at(-1)
        if (due === undefined && replaced !== undefined) {
          const evidence = [replaced.id, entry.id]
          keep(...evidence)
          const settled = pairs.add({ first: replaced.token, second: token, evidence, at: decidedAt })
          if (settled !== undefined) report(...settled.evidence)
        }
        const others = current[realm].filter((each) => each !== replaced)
        current[realm] = [...others.slice(1 - mostPrograms), { token, id: entry.id, refused: false }]
      },
      open: () => pairs.evidence(),
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
