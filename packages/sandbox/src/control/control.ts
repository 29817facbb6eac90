import type { Api, ApiCounts } from '../api/api.ts'
import type { StrictRatePolicy } from '../api/strict-rate.ts'
import { apiFailureAnswer, issuerFailureAnswer } from '../faults/failure.ts'
import type { ApiFailure, Cut, Fault, IssuerFailure } from '../faults/failure.ts'
import type { Latency } from '../faults/latency.ts'
import type { ClientCredentials } from '../issuer/client-registration.ts'
import type { Issuer, IssuerCounts } from '../issuer/issuer.ts'
import type { JournalEntry } from '../journal/entry.ts'
import type { Journal, JournalFilter } from '../journal/journal.ts'
import { perRealm, realms, type Realm } from '../realm.ts'
import { plan } from '../scenario/plan.ts'
import { createPlayer } from '../scenario/player.ts'
import type { Scenario } from '../scenario/scenario.ts'
import type { Judge, Verdict } from '../verdict/verdict.ts'
import { checkedArguments } from './checked.ts'
import { apiStates, issuerStates, type SandboxState } from './state.ts'

/** A snapshot of everything that the sandbox counts. */
export interface SandboxCounts {
  issuers: Record<Realm, IssuerCounts>
  apis: Record<Realm, ApiCounts>
}

/**
 * Makes the service misbehave, and says what reached it. Everything takes effect at once, for requests that
 * arrive from then on. Where the issuer or the API may be left out, both are meant. A wrong argument is a `TypeError`.
 */
export interface SandboxControl {
  /** Returns what reached the issuers and the APIs, and what became of it. */
  counts(): SandboxCounts
  /** Sets every count to zero. The calls inside of the windows of a rate policy still count for the policy. */
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
   * `dropOldSecrets`. Tokens that were issued live on.
   *
   * @returns the credentials with the new secret.
   */
  rotateSecret(issuer: Realm, options?: { overlap?: boolean }): ClientCredentials
  /** Refuses every secret but the newest one. */
  dropOldSecrets(issuer: Realm): void

  /** Holds every token request for so long, on top of any other fault; 0 ends it. */
  slowIssuer(issuer: Realm, ms: Latency): void
  /** Answers token requests with a failure. Replaces an earlier failure or kill. */
  failIssuer(issuer: Realm, failure: IssuerFailure): void
  /** Cuts the connection of token requests: when they arrive, or in mid-body. Replaces an earlier failure or kill. */
  killIssuer(issuer: Realm, span?: Cut): void
  /** Sets the clock of an issuer ahead by that many milliseconds, or behind: its `Date` header and its tokens' claims. */
  setIssuerClock(issuer: Realm, offset: number): void
  /** Ends slowness, failure, kill and a wrong clock. */
  restoreIssuer(issuer?: Realm): void

  /** Holds every response of an API for so long; 0 ends it. */
  slowApi(api: Realm, ms: Latency): void
  /** Answers calls with a failure, whatever their token is. Replaces an earlier failure or kill. */
  failApi(api: Realm, failure: ApiFailure): void
  /** Cuts the connection of calls: when they arrive, or in mid-body. Replaces an earlier failure or kill. */
  killApi(api: Realm, span?: Cut): void
  /** Sets the clock of an API ahead by that many milliseconds, or behind: its `Date` header and its rate limit headers. */
  setApiClock(api: Realm, offset: number): void
  /** Sets the rate policy that an API enforces from now on, counting from zero; `null` ends it. */
  setRatePolicy(api: Realm, policy: StrictRatePolicy | null): void
  /** Ends slowness, failure, kill and a wrong clock. */
  restoreApi(api?: Realm): void

  /** Lets control functions happen at their times. Replaces an earlier scenario. A wrong step is a `TypeError` at once. */
  playScenario(scenario: Scenario): void
  /** Ends a scenario; what it has done stays as it is. */
  stopScenario(): void
}

/** What the control functions act on. */
export interface Controlled {
  issuers: Record<Realm, Issuer>
  apis: Record<Realm, Api>
  journal: Journal
  judge: Judge
  environment: () => Record<string, string>
  now: () => number
}

export function createControl({
  issuers,
  apis,
  journal,
  judge,
  environment,
  now,
}: Controlled): SandboxControl {
  const issuersOf = (realm?: Realm): Issuer[] =>
    (realm === undefined ? realms : [realm]).map((each) => issuers[each])
  const apisOf = (realm?: Realm): Api[] => (realm === undefined ? realms : [realm]).map((each) => apis[each])

  const player = createPlayer()
  const control: SandboxControl = checkedArguments({
    counts: () => ({
      issuers: perRealm((realm) => issuers[realm].counts()),
      apis: perRealm((realm) => apis[realm].counts()),
    }),
    resetCounts() {
      for (const each of [...issuersOf(), ...apisOf()]) each.resetCounts()
    },
    state: () => ({
      at: new Date().toISOString(),
      issuers: issuerStates(issuers, now),
      apis: apiStates(apis),
      scenario: player.progress() ?? null,
      journal: { dropped: journal.dropped() },
    }),
    journal: (filter) => journal.entries(filter),
    verdict: () => judge.verdict(),
    clearJournal() {
      journal.clear()
      judge.clear()
    },
    environment,

    expireTokens(realm) {
      for (const issuer of issuersOf(realm)) issuer.ledger.expireAll()
    },
    revokeTokens(realm) {
      for (const issuer of issuersOf(realm)) issuer.ledger.revokeAll()
    },
    setTokenLifetime(lifetime, realm) {
      for (const issuer of issuersOf(realm)) issuer.ledger.lifetime = lifetime
    },

    rotateSecret(realm, { overlap = false } = {}) {
      const { registration } = issuers[realm]
      registration.rotate({ overlap })
      return registration.credentials()
    },
    dropOldSecrets(realm) {
      issuers[realm].registration.dropOldSecrets()
    },

    slowIssuer(realm, ms) {
      issuers[realm].slowness = ms
    },
    failIssuer(realm, failure) {
      issuers[realm].faults.set(issuerFailureAnswer(failure), failure)
    },
    killIssuer(realm, span = {}) {
      issuers[realm].faults.set(cutOf(span), span)
    },
    setIssuerClock(realm, offset) {
      issuers[realm].clock.offset = offset
    },
    restoreIssuer(realm) {
      for (const issuer of issuersOf(realm)) restore(issuer)
    },

    slowApi(realm, ms) {
      apis[realm].slowness = ms
    },
    failApi(realm, failure) {
      apis[realm].faults.set(apiFailureAnswer(failure), failure)
    },
    killApi(realm, span = {}) {
      apis[realm].faults.set(cutOf(span), span)
    },
    setApiClock(realm, offset) {
      apis[realm].clock.offset = offset
    },
    setRatePolicy(realm, policy) {
      apis[realm].ratePolicy = policy ?? undefined
    },
    restoreApi(realm) {
      for (const api of apisOf(realm)) restore(api)
    },

    playScenario(scenario) {
      player.play(plan(scenario, control))
    },
    stopScenario() {
      player.stop()
    },
  })
  return control
}

const cutOf = ({ midBody = false }: Cut): Fault => (midBody ? 'cut-body' : 'cut')

function restore(server: Issuer | Api): void {
  server.slowness = 0
  server.clock.offset = 0
  server.faults.clear()
}
