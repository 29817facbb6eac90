import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

import type { Realm } from '../realm.ts'
import type { OfferedTls } from '../server/client-hello.ts'
import type { Handler } from '../server/loopback-server.ts'
import type { Pulse } from '../server/pulse.ts'
import type { ServerClock } from '../server/server-clock.ts'
import type { Outcome, RequestFacts, SeenClose, SeenRequest } from './entry.ts'
import type { Journal } from './journal.ts'
import { judgeUrl, type Recognize } from './url-secrets.ts'

export interface Watch {
  realm: Realm
  kind: 'issuer' | 'api'
  now: () => number
  pulse: Pulse
  clock: ServerClock
  recognize: Recognize
  connections: Connections
  journal: Journal
  /** Who sees what arrived. */
  judge: { see(request: SeenRequest): void; seeClose(close: SeenClose): void }
}

/** @param reachedAt - the earliest time at which the request, and its connection if that is new, may have arrived. */
type Watched = (request: IncomingMessage, response: ServerResponse, reachedAt: number) => Promise<Outcome>

/** Makes a handler that reports what was decided about each request. */
export function watched(handle: Watched, watch: Watch): Handler {
  const { realm, kind, now, pulse, clock, recognize, connections, journal, judge } = watch

  return async (request, response, openedAt) => {
    const arrivedAt = now()
    const at = new Date()
    const { url = '', method = '', headers } = request
    const connection = connections.arrive(request.socket, ({ last }) => {
      if (last !== undefined) judge.seeClose({ last, at: now() })
    })
    const onConnection = connection.requests
    const beganAt = onConnection === 1 ? openedAt : arrivedAt
    const reachedAt = Math.min(pulse.earliest(), beganAt)
    let endedAt: number | undefined
    response.once('close', () => (endedAt = now()))
    // without this, Node writes the header by this machine's clock
    if (clock.offset !== 0) response.setHeader('date', clock.date())

    const outcome = await handle(request, response, reachedAt)
    const decidedAt = endedAt ?? now()
    const { path, flaws } = judgeUrl(url, recognize)
    const entry = journal.add({
      at: at.toISOString(),
      target: `${realm}-${kind}`,
      client: clientOf(headers['user-agent']),
      connection: connection.number,
      method,
      path,
      token: outcome.entry?.name ?? outcome.token ?? null,
      status: response.headersSent && outcome.decision !== 'left' ? response.statusCode : null,
      decision: outcome.decision,
      reason: outcome.reason,
    })
    const seen: SeenRequest = {
      entry,
      realm,
      kind,
      beganAt,
      reachedAt,
      arrivedAt,
      decidedAt,
      call: `${method} ${url}`,
      retryAt: retryAt(response, decidedAt, clock),
      token: outcome.entry,
      onConnection,
      resumed: (request.socket as Partial<TLSSocket>).isSessionReused?.() ?? false,
      cut: outcome.cut ?? false,
      flaws: [...flaws, ...(outcome.flaws ?? [])],
    }
    connection.last = seen
    judge.see(seen)
  }
}

/** Returns the first product of a `User-Agent` header (RFC 9110 §10.1.5). */
function clientOf(userAgent = ''): string {
  return /^[\w!#$%&'*+.^`|~-]{1,40}(?:\/[\w!#$%&'*+.^`|~-]{1,20})?/.exec(userAgent)?.[0] ?? 'unknown'
}

/** Returns when the client may retry by the response's `Retry-After` header, on the sandbox's own clock. */
function retryAt(response: ServerResponse, now: number, clock: ServerClock): number | undefined {
  if (response.statusCode !== 429 && response.statusCode !== 503) return undefined
  const header = response.getHeader('retry-after')
  if (typeof header !== 'string') return undefined
  if (/^\d+$/.test(header)) return now + Number(header) * 1_000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : now + date - clock.epoch()
}

export interface Connection {
  /** Number of the connection, counted from 1 in the order of the first requests. */
  readonly number: number
  requests: number
  /** The last request with a decision. */
  last?: SeenRequest
}

export class Connections {
  readonly #known = new WeakMap<Socket, Connection>()
  #last = 0

  /** Returns a new number for a connection without a request. */
  open(): Connection {
    this.#last += 1
    return { number: this.#last, requests: 0 }
  }

  /** Counts a request, and returns its connection. Calls `onClose` when the connection ends. */
  arrive(socket: Socket, onClose: (connection: Connection) => void): Connection {
    const connection = this.#known.get(socket) ?? this.open()
    if (connection.requests === 0) {
      this.#known.set(socket, connection)
      socket.once('close', () => onClose(connection))
    }
    connection.requests += 1
    return connection
  }
}

/** Records a connection whose client offered a TLS version below 1.2, which servers must not accept (RFC 8996). */
export function noticeOldTls(
  { old, alsoNew }: OfferedTls,
  { realm, kind, now, connections, journal, judge }: Watch,
): void {
  const connection = connections.open()
  const offered = `offered ${old.join(' and ')}`
  const nothing = { client: 'unknown', method: null, path: null, token: null, status: null }
  const entry = journal.add({
    ...nothing,
    at: new Date().toISOString(),
    target: `${realm}-${kind}`,
    connection: connection.number,
    decision: alsoNew ? 'answered' : 'refused',
    reason: alsoNew ? `${offered} alongside a newer version` : `${offered} and nothing newer`,
  })
  const seen: SeenRequest = { entry, ...factsAt(now()), realm, kind: 'connection', flaws: ['old-tls'] }
  connection.last = seen
  judge.see(seen)
}

/** What is known of a connection without a request. */
const factsAt = (at: number): Omit<RequestFacts, 'realm' | 'kind' | 'flaws'> => ({
  beganAt: at,
  reachedAt: at,
  arrivedAt: at,
  decidedAt: at,
  call: '',
  retryAt: undefined,
  token: undefined,
  onConnection: 0,
  resumed: false,
  cut: false,
})
