import type { LedgerEntry } from '../issuer/token-ledger.ts'
import type { Realm } from '../realm.ts'

/** Where a request arrived. */
export type Target = 'general-issuer' | 'weblink-issuer' | 'general-api' | 'weblink-api'

export const targets: readonly Target[] = ['general-issuer', 'weblink-issuer', 'general-api', 'weblink-api']

/**
 * What became of a request:
 *
 * - `issued`: it got a token
 * - `answered`: an API served it, whatever the status
 * - `refused`: the request or its token was wrong (4xx)
 * - `limited`: over the rate policy (429)
 * - `failed`: it met a fault that control had set
 * - `left`: its client closed the connection before the response
 */
export type Decision = 'issued' | 'answered' | 'refused' | 'limited' | 'failed' | 'left'

export const decisions: readonly Decision[] = ['issued', 'answered', 'refused', 'limited', 'failed', 'left']

/** One request that reached an issuer or an API. Plain JSON, without a token, a secret, a query or a body. */
export interface JournalEntry {
  /** Counts up from 1 in the order in which responses were decided. */
  id: number
  /** When the request arrived, in ISO 8601. */
  at: string
  target: Target
  /** First product of the `User-Agent` header, for example `axios/1.21.1`; `unknown` without one. */
  client: string
  /** Counts the connections of the sandbox from 1, so that requests on the same connection show the same number. */
  connection: number
  /** `null` for a connection that ended in its TLS handshake. */
  method: string | null
  /** Without its query. */
  path: string | null
  /** Short name of the token that was brought or issued, for example `weblink-3`; `unknown` if no issuer issued it; `null` without one. */
  token: string | null
  /** `null` where the connection was cut before a response. */
  status: number | null
  decision: Decision
  /** In plain words, for example `over the limit: 26 of 25 in 1 s`. */
  reason: string
}

/** What is wrong with one request by itself, whatever came before and after it. */
export type Flaw =
  | 'client-authentication'
  | 'content-type'
  | 'expired-token'
  | 'foreign-token'
  | 'missing-token'
  | 'old-tls'
  | 'over-limit'
  | 'secret-in-url'
  | 'token-in-url'
  | 'token-outside'
  | 'token-request'

/** What an issuer or an API decided about a request. */
export interface Outcome {
  decision: Decision
  reason: string
  /** What the journal calls a token that no issuer knows. */
  token?: 'unknown'
  /** The token that was brought or issued. */
  entry?: LedgerEntry | undefined
  flaws?: readonly Flaw[]
  /** Whether the sandbox cut the connection. */
  cut?: true
}

/** What the verdict knows of a request beyond its entry. */
export interface RequestFacts {
  realm: Realm
  /** What arrived: a token request, a call, or a connection without a request so far. */
  kind: 'issuer' | 'api' | 'connection'
  /** When its client began to send it: when it opened the connection, for the first request on it. */
  beganAt: number
  /** The earliest moment at which it may have arrived: a busy process reads late. */
  reachedAt: number
  /** When it was read, on the sandbox's own clock, in milliseconds. */
  arrivedAt: number
  decidedAt: number
  /** Tells calls apart that differ in method, path or query. */
  call: string
  /** Until when the response asked not to be called, on the sandbox's own clock. */
  retryAt: number | undefined
  /** The token that was brought or issued. */
  token: LedgerEntry | undefined
  /** How many requests its connection has had, this one included. */
  onConnection: number
  /** Whether the sandbox cut the connection. */
  cut: boolean
  flaws: readonly Flaw[]
}

/** A request as the verdict's rules see it. */
export interface SeenRequest extends RequestFacts {
  entry: JournalEntry
}
