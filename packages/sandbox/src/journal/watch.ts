import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

import type { Realm } from '../realm.ts'
import type { Handler } from '../server/loopback-server.ts'
import { judgeUrl, type Recognize } from '../server/url-secrets.ts'
import type { ServerClock } from '../server/server-clock.ts'
import type { JournalEntry, Outcome, RequestFacts } from './entry.ts'

/** What a handler is watched with. */
export interface Watch {
  realm: Realm
  kind: 'issuer' | 'api'
  now: () => number
  clock: ServerClock
  recognize: Recognize
  /** Number of the connection, counted from 1. */
  connectionOf: (socket: Socket) => number
  observe: (entry: Omit<JournalEntry, 'id'>, facts: RequestFacts) => void
}

type Watched = (request: IncomingMessage, response: ServerResponse) => Promise<Outcome>

/** Makes a handler tell what it decided about each request. */
export function watched(handle: Watched, watch: Watch): Handler {
  const { realm, kind, now, clock, recognize, connectionOf, observe } = watch

  return async (request, response) => {
    const arrivedAt = now()
    const at = new Date()
    const { url = '', method = '', headers } = request
    // before the response can close it
    const connection = connectionOf(request.socket)
    // Node writes the header by itself, by this machine's clock
    if (clock.offset !== 0) response.setHeader('date', clock.date())
    const outcome = await handle(request, response)
    const decidedAt = now()
    const { path, flaws } = await judgeUrl(url, recognize)
    const entry: Omit<JournalEntry, 'id'> = {
      at: at.toISOString(),
      target: `${realm}-${kind}`,
      client: clientOf(headers['user-agent']),
      connection,
      method,
      path,
      token: outcome.entry?.name ?? outcome.token ?? null,
      status: response.headersSent && outcome.decision !== 'left' ? response.statusCode : null,
      decision: outcome.decision,
      reason: outcome.reason,
    }
    observe(entry, {
      realm,
      kind,
      arrivedAt,
      decidedAt,
      call: `${method} ${url}`,
      retryAt: retryAt(response, decidedAt, clock),
      token: outcome.entry,
      flaws: [...flaws, ...(outcome.flaws ?? [])],
    })
  }
}

/** The first product of a `User-Agent` header (RFC 9110 §10.1.5). */
function clientOf(userAgent = ''): string {
  return /^[\w!#$%&'*+.^`|~-]{1,40}(?:\/[\w!#$%&'*+.^`|~-]{1,20})?/.exec(userAgent)?.[0] ?? 'unknown'
}

/** Until when the response asked to wait, on the sandbox's own clock. */
function retryAt(response: ServerResponse, now: number, clock: ServerClock): number | undefined {
  if (response.statusCode !== 429 && response.statusCode !== 503) return undefined
  const header = response.getHeader('retry-after')
  if (typeof header !== 'string') return undefined
  if (/^\d+$/.test(header)) return now + Number(header) * 1_000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : now + date - clock.epoch()
}
