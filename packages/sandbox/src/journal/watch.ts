import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

import type { Realm } from '../realm.ts'
import type { OfferedTls } from '../server/client-hello.ts'
import type { Handler } from '../server/loopback-server.ts'
import type { Pulse } from '../server/pulse.ts'
import type { ServerClock } from '../server/server-clock.ts'
import type { JournalEntry, Outcome, RequestFacts, SeenRequest } from './entry.ts'
import { judgeUrl, type Recognize } from './url-secrets.ts'

export interface Watch {
  realm: Realm
  kind: 'issuer' | 'api'
  now: () => number
  pulse: Pulse
  clock: ServerClock
  recognize: Recognize
  connections: Connections
  observe: (entry: Omit<JournalEntry, 'id'>, facts: RequestFacts, connection: Connection) => void
  observeClose: (connection: Connection, at: number) => void
}

/** @param reachedAt - the earliest time at which the request, and its connection if that is new, may have arrived. */
type Watched = (request: IncomingMessage, response: ServerResponse, reachedAt: number) => Promise<Outcome>

/** Makes a handler that reports what was decided about each request. */
export function watched(handle: Watched, watch: Watch): Handler {
  const { realm, kind, now, pulse, clock, recognize, connections, observe, observeClose } = watch

  return async (request, response, openedAt) => {
    const arrivedAt = now()
    const at = new Date()
    const { url = '', method = '', headers } = request
    const connection = connections.arrive(request.socket, (closed) => observeClose(closed, now()))
    const onConnection = connection.requests
    const beganAt = onConnection === 1 ? openedAt : arrivedAt
    const reachedAt = Math.min(pulse.earliest(), beganAt)
    let endedAt: number | undefined
    response.once('close', () => (endedAt = now()))
    // without this, Node writes the header by this machine's clock
    if (clock.offset !== 0) response.setHeader('date', clock.date())

    const outcome = await handle(request, response, reachedAt)
    const decidedAt = endedAt ?? now()
    const { path, flaws } = await judgeUrl(url, recognize)
    const entry: Omit<JournalEntry, 'id'> = {
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
    }
    const facts: RequestFacts = {
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
    observe(entry, facts, connection)
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

export interface Connections {
  /** Counts a request, and returns its connection. Calls `onClose` when the connection ends. */
  arrive(socket: Socket, onClose: (connection: Connection) => void): Connection
  /** Returns a new number for a connection without a request. */
  open(): Connection
}

export function createConnections(): Connections {
  const known = new WeakMap<Socket, Connection>()
  let last = 0
  const open = (): Connection => {
    last += 1
    return { number: last, requests: 0 }
  }

  return {
    open,
    arrive(socket, onClose) {
      let connection = known.get(socket)
      if (connection === undefined) {
        const opened = open()
        connection = opened
        known.set(socket, opened)
        socket.once('close', () => onClose(opened))
      }
      connection.requests += 1
      return connection
    },
  }
}

/** Records a connection whose client offered a TLS version below 1.2, which servers must not accept (RFC 8996). */
export function noticeOldTls(
  { old, alsoNew }: OfferedTls,
  { realm, kind, now, connections, observe }: Watch,
): void {
  const at = now()
  const connection = connections.open()
  const offered = `offered ${old.join(' and ')}`
  observe(
    {
      at: new Date().toISOString(),
      target: `${realm}-${kind}`,
      client: 'unknown',
      connection: connection.number,
      method: null,
      path: null,
      token: null,
      status: null,
      decision: alsoNew ? 'answered' : 'refused',
      reason: alsoNew ? `${offered} alongside a newer version` : `${offered} and nothing newer`,
    },
    {
      realm,
      kind: 'connection',
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
      flaws: ['old-tls'],
    },
    connection,
  )
}
