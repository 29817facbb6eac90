import type { ApiCounts } from '../api/call-counts.ts'
import type { StrictRatePolicy } from '../api/strict-rate.ts'
import type { ApiFailure, Cut, IssuerFailure } from '../faults/fault.ts'
import type { Latency } from '../faults/latency.ts'
import type { AssertionOptions } from '../issuer/cluster.ts'
import type { ClientCredentials } from '../issuer/client-registration.ts'
import type { IssuerCounts } from '../issuer/issuer.ts'
import type { JournalEntry } from '../journal/entry.ts'
import type { JournalFilter } from '../journal/journal.ts'
import type { Realm } from '../realm.ts'
import type { Scenario } from './scenario.ts'
import type { Verdict } from '../verdict/verdict.ts'
import type { SandboxState } from './state.ts'

/** A snapshot of everything that the sandbox counts. */
export interface SandboxCounts {
  issuers: Record<Realm, IssuerCounts>
  apis: Record<Realm, ApiCounts>
}

/**
 * Makes the service misbehave, and reports what reached it. Each function takes effect at once, for requests that arrive
 * from then on. If the issuer or the API is left out, a function applies to both issuers or both APIs. A wrong argument throws a
 * `TypeError`.
 */
export interface SandboxControl {
  /** Returns counts of the requests that reached the issuers and the APIs, by outcome. */
  counts(): SandboxCounts
  /** Sets every count to zero. Calls in a rate policy's windows still count towards the policy. */
  resetCounts(): void
  /** Returns the sandbox as it is now: live tokens, windows of the rate policies, faults, counts. */
  state(): SandboxState
  /** Returns the requests that reached an issuer or an API, in order, with what was decided and why. */
  journal(filter?: JournalFilter): JournalEntry[]
  /** Returns what the client has done wrong so far, with evidence from the journal and the fix. */
  verdict(): Verdict
  /** Clears the journal, and what the verdict has found so far. */
  clearJournal(): void

  /** Returns the environment variables that point a program at this sandbox, with the newest client secrets. */
  environment(): Record<string, string>

  /** Expires all tokens issued so far. */
  expireTokens(issuer?: Realm): void
  /** Revokes all tokens issued so far. */
  revokeTokens(issuer?: Realm): void
  /** Sets the lifetime of the tokens issued from now on, in milliseconds; 1 to 31_536_000_000, fractions allowed. */
  setTokenLifetime(lifetime: number, issuer?: Realm): void

  /**
   * Makes a new client secret. The old one is refused from now on, unless `overlap` keeps it valid until
   * `dropOldSecrets`. Tokens issued earlier stay valid.
   *
   * @returns the credentials with the new secret.
   */
  rotateSecret(issuer: Realm, options?: { overlap?: boolean }): ClientCredentials
  /** Refuses every secret except the newest one. */
  dropOldSecrets(issuer: Realm): void
  /** Refuses every secret from now on: the client can only authenticate with an assertion from the cluster. */
  dropSecrets(issuer: Realm): void
  /** Returns an assertion from the cluster. The issuer needs `workloadIdentity`. */
  makeAssertion(issuer: Realm, options?: AssertionOptions): string
  /**
   * Writes an assertion from the cluster to a file, and replaces it after four fifths of its lifetime, as Kubernetes does,
   * until the sandbox is closed. The issuer needs `workloadIdentity`.
   *
   * @returns the path of the file.
   */
  projectAssertion(issuer: Realm, options?: AssertionOptions): string
  /**
   * Gives the cluster a new key, and rewrites the assertion files. Assertions signed with the old one are refused from now on,
   * unless `overlap` keeps it valid. The issuer needs `workloadIdentity`.
   */
  rotateClusterKeys(issuer: Realm, options?: { overlap?: boolean }): void

  /** Delays every token request by this many milliseconds, in addition to any other fault; 0 ends the delay. */
  slowIssuer(issuer: Realm, ms: Latency): void
  /** Responds to token requests with a failure. Replaces an earlier failure or kill. */
  failIssuer(issuer: Realm, failure: IssuerFailure): void
  /**
   * Cuts the connection of token requests when they arrive, or in the middle of the response body. Replaces an earlier
   * failure or kill.
   */
  killIssuer(issuer: Realm, span?: Cut): void
  /**
   * Sets an issuer's clock forward by this many milliseconds, or back if negative: its `Date` header and the claims of
   * its tokens.
   */
  setIssuerClock(issuer: Realm, offset: number): void
  /** Ends delays, failures and kills, and corrects the clock. */
  restoreIssuer(issuer?: Realm): void

  /** Delays every response from an API by this many milliseconds; 0 ends the delay. */
  slowApi(api: Realm, ms: Latency): void
  /** Responds to calls with a failure, whatever their token. Replaces an earlier failure or kill. */
  failApi(api: Realm, failure: ApiFailure): void
  /**
   * Cuts the connection of calls when they arrive, or in the middle of the response body. Replaces an earlier failure
   * or kill.
   */
  killApi(api: Realm, span?: Cut): void
  /**
   * Sets an API's clock forward by this many milliseconds, or back if negative: its `Date` header and its rate limit
   * headers.
   */
  setApiClock(api: Realm, offset: number): void
  /** Sets the rate policy that an API enforces from now on, counting from zero; `null` removes it. */
  setRatePolicy(api: Realm, policy: StrictRatePolicy | null): void
  /** Ends delays, failures and kills, and corrects the clock. */
  restoreApi(api?: Realm): void

  /**
   * Runs control functions at the times that the scenario gives. Replaces an earlier scenario. A wrong step throws a
   * `TypeError` at once.
   */
  playScenario(scenario: Scenario): void
  /** Ends a scenario. Its changes remain. */
  stopScenario(): void
}
