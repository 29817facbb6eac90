import type { Realm } from '../realm.ts'

/** What the ledger of an issuer knows about one token. All times are on the sandbox's own clock, in milliseconds. */
export interface LedgerEntry {
  /** A short name for people, for example `weblink-3`: the third token of the weblink issuer. */
  readonly name: string
  readonly lifetime: number
  readonly issuedAt: number
  /** When the token ends by the lifetime that was sent to the client. */
  readonly promisedUntil: number
  /** When the token ends or ended. Control can make that earlier than promised. */
  readonly expiresAt: number
  readonly revokedAt: number | undefined
}

/** Where a request arrived. */
export type Target = 'general-issuer' | 'weblink-issuer' | 'general-api' | 'weblink-api'

export const targets: readonly Target[] = ['general-issuer', 'weblink-issuer', 'general-api', 'weblink-api']

/**
 * The result of a request:
 *
 * - `issued`: it got a token
 * - `answered`: it was served, whatever the status; at an issuer, a request for something other than a token
 * - `refused`: the request or its token was wrong (4xx)
 * - `limited`: over the rate policy (429)
 * - `failed`: it met a fault that control had set
 * - `left`: its client closed the connection before the response
 */
export type Decision = 'issued' | 'answered' | 'refused' | 'limited' | 'failed' | 'left'

export const decisions: readonly Decision[] = ['issued', 'answered', 'refused', 'limited', 'failed', 'left']

/** One request that reached an issuer or an API. Plain JSON, without a token, a secret, a query or a body. */
export interface JournalEntry {
  /** Number of the entry, counted from 1 in the order of the decisions. */
  id: number
  /** When the request arrived, in ISO 8601. */
  at: string
  target: Target
  /** First product of the `User-Agent` header, for example `axios/1.21.1`; `unknown` without one. */
  client: string
  /** Number of the connection, counted from 1. Requests on the same connection have the same number. */
  connection: number
  /** Method of the request; `null` for a TLS handshake that offered an old version. */
  method: string | null
  /** Path of the request without its query; `null` for such a TLS handshake. */
  path: string | null
  /** Short name of the token in the call or the token response, for example `weblink-3`; `unknown` if no issuer issued it; `null` without one. */
  token: string | null
  /** Status of the response; `null` for a TLS handshake, and if the connection ended before a response. */
  status: number | null
  decision: Decision
  /** The reason for the decision, in plain words, for example `over the limit: 26 of 25 in 1 s`. */
  reason: string
}

/** A mistake that a single request shows, regardless of the requests before and after it. */
export type Flaw =
  | 'client-authentication'
  | 'content-type'
  | 'expired-assertion'
  | 'expired-token'
  | 'foreign-assertion'
  | 'foreign-token'
  | 'missing-token'
  | 'no-metadata'
  | 'old-tls'
  | 'over-limit'
  | 'replayed-assertion'
  | 'secret-in-url'
  | 'stale-assertion'
  | 'token-in-url'
  | 'token-outside'
  | 'token-request'

/** What an issuer or an API decided about a request. */
export interface Outcome {
  decision: Decision
  reason: string
  /** What the journal calls a token that no issuer knows. */
  token?: 'unknown'
  /** The token in the call or the token response. */
  entry?: LedgerEntry | undefined
  flaws?: readonly Flaw[]
  cut?: true
}

/** What the verdict knows about a request in addition to its entry. */
export interface RequestFacts {
  realm: Realm
  /** What arrived: a token request, a call, or a connection without a request so far. */
  kind: 'issuer' | 'api' | 'connection'
  /** When its client began to send it. For the first request on a connection: when the client opened the connection. */
  beganAt: number
  /** The earliest time at which it may have arrived, because a busy process reads late. */
  reachedAt: number
  /** When it was read, on the sandbox's own clock, in milliseconds. */
  arrivedAt: number
  decidedAt: number
  /** Method, path and query, to recognize the same call when it is sent again. */
  call: string
  /** When the client may retry by the response's `Retry-After` header, on the sandbox's own clock. */
  retryAt: number | undefined
  /** The token in the call or the token response. */
  token: LedgerEntry | undefined
  /** How many requests arrived on its connection, including this one. */
  onConnection: number
  /** Whether its connection resumed the TLS session of an earlier one, which only the same process can. */
  resumed: boolean
  cut: boolean
  flaws: readonly Flaw[]
}

/** A request as the verdict's rules see it. */
export interface SeenRequest extends RequestFacts {
  entry: JournalEntry
}

export interface SeenClose {
  /** The last request on it. */
  last: SeenRequest
  /** When it was closed, on the sandbox's own clock. */
  at: number
}

/** Returns an entry on one line: its id, when it arrived (UTC), where, and what was decided and why. */
export function entryLine({ id, at, target, method, path, reason }: JournalEntry): string {
  return `${id}  ${at.slice(11, 23)}  ${target}  ${method === null ? 'TLS' : `${method} ${path}`}: ${reason}`
}
