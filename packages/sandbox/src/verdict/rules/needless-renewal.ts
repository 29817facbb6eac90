import type { JournalEntry, LedgerEntry, SeenRequest } from '../../journal/entry.ts'
import { perRealm, realms } from '../../realm.ts'
import { plural } from '../../in-words.ts'
import { isTyped, type Rule } from '../rule.ts'
import { TokenPairs } from '../token-pairs.ts'

interface Current {
  token: LedgerEntry
  id: number
  client: string
  refused: boolean
  /** The connections that brought it and are open. */
  open: Set<number>
  /** Whether the end of its program would show: it keeps connections, or resumes their sessions. */
  endShows: boolean
}

/** Programs, each with a token of its own, that are told apart. */
const mostPrograms = 100

/** Token requests while no token was old, no API had refused one, and no program with one had ended. */
export const needlessRenewal: Rule = {
  name: 'needless-renewal',
  severity: 'error',
  message: (count) =>
    `${plural(count, 'token was', 'tokens were')} requested while another one had more than half its lifetime left`,
  fix: 'Share the token between all callers until shortly before it expires, and drop it after a 401 only if it is still the current one.',
  watch(report, keep) {
    const current = perRealm((): Current[] => [])
    const pairs = new TokenPairs()
    return {
      see(request) {
        const { entry, kind, realm, token, beganAt, decidedAt, resumed } = request
        for (const { first, evidence } of pairs.see(request))
          current[realm].unshift({ ...holding(first, entry), id: evidence[0] ?? entry.id })
        if (token === undefined) return
        if (kind === 'api') {
          const holder = current[realm].find((each) => each.token === token)
          if (holder === undefined) return
          if (entry.status === 401) holder.refused = true
          if (holder.open.size === 0 && !resumed) holder.endShows = false
          if (entry.decision !== 'left') holder.open.add(entry.connection)
          return
        }
        if (entry.decision !== 'issued') return
        const due = current[realm].find(
          (each) => each.refused || !isFresh(each.token, beganAt) || hasEnded(each, request),
        )
        const replaced = due ?? current[realm].at(-1)
        if (due === undefined && replaced !== undefined) {
          const evidence = [replaced.id, entry.id]
          keep(...evidence)
          const isNote = isTyped(entry.client)
          const settled = pairs.add({ first: replaced.token, second: token, evidence, isNote, at: decidedAt })
          if (settled !== undefined) report(settled)
        }
        const others = current[realm].filter((each) => each !== replaced)
        current[realm] = [...others.slice(1 - mostPrograms), holding(token, entry)]
      },
      seeClose({ last: { entry } }) {
        for (const realm of realms) for (const { open } of current[realm]) open.delete(entry.connection)
      },
      open: () => pairs.all(),
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

function holding(token: LedgerEntry, { id, client, connection }: JournalEntry): Current {
  return { token, id, client, refused: false, open: new Set([connection]), endShows: true }
}

/**
 * Returns whether the program with a token had ended before this token request: its connections are closed, and the new one
 * resumes none of their sessions. Then the request is that of its next start, or of another program.
 */
function hasEnded(
  { client, open, endShows }: Current,
  { entry, onConnection, resumed }: SeenRequest,
): boolean {
  return open.size === 0 && onConnection === 1 && !resumed && (endShows || client !== entry.client)
}
