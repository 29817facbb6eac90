import type { ApiCounts } from '../api/call-counts.ts'
import type { StrictRatePolicy } from '../api/strict-rate.ts'
import type { ApiFailure, Cut, IssuerFailure } from '../faults/failure.ts'
import type { Latency } from '../faults/latency.ts'
import type { AssertionOptions } from '../issuer/cluster.ts'
import type { ClientCredentials } from '../issuer/client-registration.ts'
import type { IssuerCounts } from '../issuer/issuer.ts'
import type { JournalEntry } from '../journal/entry.ts'
import type { JournalFilter } from '../journal/journal.ts'
import type { Realm } from '../realm.ts'
import type { Scenario } from '../scenario/scenario.ts'
import type { Verdict } from '../verdict/verdict.ts'
import type { SandboxState } from './state.ts'

/** A snapshot of everything that the sandbox counts. */
export interface SandboxCounts {
  issuers: Record<Realm, IssuerCounts>
  apis: Record<Realm, ApiCounts>
}

/**
 * Makes the service misbehave, and reports what reached it. Each function takes effect at once, for requests that arrive
 * from then on. Without an issuer or an API, a function with that parameter applies to both. A wrong argument throws a
 * `TypeError`.
 */
export interface SandboxControl {
  /** Returns what reached the issuers and the APIs, and what became of it. */
  counts(): SandboxCounts
  /** Sets every count to zero. Calls in the windows of a rate policy still count for the policy. */
  resetCounts(): void
  /** Returns the sandbox as it is now: live tokens, windows of the rate policies, faults, counts. */
  state(): SandboxState
  /** Returns the requests that reached an issuer or an API, in order, with what was decided and why. */
  journal(filter?: JournalFilter): JournalEntry[]
  /** Returns what the client did wrong so far, with evidence from the journal and the fix. */
  verdict(): Verdict
  /** Forgets the journal, and what the verdict has found so far. */
  clearJournal(): void

  /** Returns the environment variables that point a program at this sandbox, with the newest client secrets. */
  environment(): Record<string, string>

  /** Ends the life of all tokens issued until now. */
  expireTokens(issuer?: Realm): void
  /** Revokes all tokens issued until now. */
  revokeTokens(issuer?: Realm): void
  /** Sets the lifetime of the tokens issued from now on, in milliseconds; 1 to 31_536_000_000, fractions allowed. */
  setTokenLifetime(lifetime: number, issuer?: Realm): void

  /**
   * Makes a new client secret. The old one is refused from now on, unless `overlap` keeps it good until
   * `dropOldSecrets`. Tokens issued before stay valid.
   *
   * @returns the credentials with the new secret.
   */
  rotateSecret(issuer: Realm, options?: { overlap?: boolean }): ClientCredentials
  /** Refuses every secret but the newest one. */
  dropOldSecrets(issuer: Realm): void
  /** Refuses every secret from now on: only an assertion of the cluster proves the client. */
  dropSecrets(issuer: Realm): void
  /** Returns an assertion of the cluster. The issuer needs `workloadIdentity`. */
  makeAssertion(issuer: Realm, options?: AssertionOptions): string
  /**
   * Keeps a file with an assertion of the cluster, which is replaced at four fifths of its life as Kubernetes does it, until
   * the sandbox is closed. The issuer needs `workloadIdentity`.
   *
   * @returns the path of the file.
   */
  projectAssertion(issuer: Realm, options?: AssertionOptions): string
  /**
   * Makes a new key of the cluster. Assertions of the old one are refused from now on, unless `overlap` keeps it good. The
   * issuer needs `workloadIdentity`.
   */
  rotateClusterKeys(issuer: Realm, options?: { overlap?: boolean }): void

  /** Delays every token request by this many milliseconds, in addition to any other fault; 0 ends the delay. */
  slowIssuer(issuer: Realm, ms: Latency): void
  /** Responds to token requests with a failure. Replaces an earlier failure or kill. */
  failIssuer(issuer: Realm, failure: IssuerFailure): void
  /** Cuts the connection of token requests when they arrive, or in the middle of the response's body. Replaces an earlier failure or kill. */
  killIssuer(issuer: Realm, span?: Cut): void
  /** Sets the clock of an issuer forward by this many milliseconds, or back if negative: its `Date` header and the claims of its tokens. */
  setIssuerClock(issuer: Realm, offset: number): void
  /** Ends slowness, failure, kill and a wrong clock. */
  restoreIssuer(issuer?: Realm): void

  /** Delays every response of an API by this many milliseconds; 0 ends the delay. */
  slowApi(api: Realm, ms: Latency): void
  /** Responds to calls with a failure, whatever their token is. Replaces an earlier failure or kill. */
  failApi(api: Realm, failure: ApiFailure): void
  /** Cuts the connection of calls when they arrive, or in the middle of the response's body. Replaces an earlier failure or kill. */
  killApi(api: Realm, span?: Cut): void
  /** Sets the clock of an API forward by this many milliseconds, or back if negative: its `Date` header and its rate limit headers. */
  setApiClock(api: Realm, offset: number): void
  /** Sets the rate policy that an API enforces from now on, counting from zero; `null` ends it. */
  setRatePolicy(api: Realm, policy: StrictRatePolicy | null): void
  /** Ends slowness, failure, kill and a wrong clock. */
  restoreApi(api?: Realm): void

  /** Runs control functions at the times that the scenario gives. Replaces an earlier scenario. A wrong step is a `TypeError` at once. */
  playScenario(scenario: Scenario): void
  /** Ends a scenario. What it has changed stays changed. */
  stopScenario(): void
}
