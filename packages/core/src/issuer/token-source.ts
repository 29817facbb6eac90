import type { MemoryOf } from '../credentials/credential-rotation.ts'
import type { ClientCredentials } from '../credentials/credentials.ts'
import type { RenewalReason } from '../events.ts'
import type { Moment } from '../time/expiry.ts'
import type { IssuedToken } from './protocol.ts'

/** Where one issuer's tokens come from: the renewing token's source picks the client, and asks the store or the issuer. */
export interface TokenSource {
  /** Obtains a token by one try; throws what kept it from that. */
  obtain(reason: RenewalReason, wait: Wait): Promise<Grant>
  /** Called once no token is needed any more; resolves once background work (a store write, a report to a limiter) is done. */
  idle?(): Promise<void>
}

/** Where the tokens of each client of one issuer come from. */
export interface ClientTokenSource extends Pick<TokenSource, 'idle'> {
  /**
   * Obtains a token for `client` by one try; throws what kept it from that. `memory` says for how long other processes are
   * not to ask after a refusal.
   */
  obtain(client: ClientCredentials, reason: RenewalReason, wait: Wait, memory?: MemoryOf): Promise<Grant>
}

/** A token, and how long it lives; what is unusual only where this process made the request. */
export interface Grant extends Partial<Pick<IssuedToken, 'oddities' | 'missingScopes'>> {
  readonly token: string
  /** The lifetime that the issuer gave it, in milliseconds; `expiry` may be sooner. */
  readonly lifetime: number
  readonly expiry: Moment
  /** The `Date` of the response that it came in. */
  readonly date?: string | null | undefined
  /** How long the token request took, in milliseconds; `undefined` if another process made it. */
  readonly duration?: number
  /** Keeps other processes from using the token, after an API refused it. */
  drop?(): void
}

/** What a source may know of the calls that wait for it. */
export interface Wait {
  /** Milliseconds until the first waiting call gives up; `Infinity` while no call waits. */
  readonly timeLeft: number
  /** Whether calls wait that have no other token to send. */
  readonly needed: boolean
  /** The current token, also one that has expired. */
  readonly held: string | undefined
  /** Whether this token should replace the current one. */
  accepts(grant: Grant): boolean
  /**
   * Lets `ms` milliseconds pass, or fewer if `early` settles; throws `MANAGER_CLOSED`. Keeps the process alive only while
   * calls wait.
   */
  pause(ms: number, early?: Promise<unknown>): Promise<void>
}
