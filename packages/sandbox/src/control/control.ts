import { mustBeBoolean, mustBeNumber, mustBeObject, mustBeOneOf } from '../allowed.ts'
import type { Api, ApiCounts } from '../api/api.ts'
import type { ClientCredentials } from '../issuer/client-registration.ts'
import { apiFailureAnswer, checkedSpan, issuerFailureAnswer, longestTime } from '../faults/failure.ts'
import type { ApiFailure, IssuerFailure } from '../faults/failure.ts'
import type { FaultSpan } from '../faults/fault.ts'
import type { Issuer, IssuerCounts } from '../issuer/issuer.ts'
import { perRealm, realms, type Realm } from '../realm.ts'
import { checkLifetime } from '../sandbox-options.ts'

/** A snapshot of everything that the sandbox counts. */
export interface SandboxCounts {
  issuers: Record<Realm, IssuerCounts>
  apis: Record<Realm, ApiCounts>
}

/**
 * Makes the service misbehave, and tells what reached it. Everything takes effect at once, for requests that
 * arrive from then on. Where the realm may be left out, both are meant. A wrong argument is a `TypeError`.
 */
export interface SandboxControl {
  counts(): SandboxCounts
  /** Sets every count to zero. The calls inside of the windows of a rate policy still count for the policy. */
  resetCounts(): void

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

  /** Holds every token request for so many milliseconds, on top of any other fault; 0 ends it. */
  slowIssuer(issuer: Realm, ms: number): void
  /** Answers token requests with a failure. Replaces an earlier failure or kill. */
  failIssuer(issuer: Realm, failure: IssuerFailure): void
  /** Cuts the connection of every token request when it arrives. Replaces an earlier failure or kill. */
  killIssuer(issuer: Realm, span?: FaultSpan): void
  /** Ends slowness, failure and kill. */
  restoreIssuer(issuer?: Realm): void

  /** Answers calls with a failure, whatever their token is. Replaces an earlier failure. */
  failApi(api: Realm, failure: ApiFailure): void
  /** Ends a failure. */
  restoreApi(api?: Realm): void
}

export function createControl(issuers: Record<Realm, Issuer>, apis: Record<Realm, Api>): SandboxControl {
  const issuerOf = (realm: Realm): Issuer => issuers[mustBeOneOf('issuer', realm, realms)]
  const apiOf = (realm: Realm): Api => apis[mustBeOneOf('api', realm, realms)]
  const issuersOf = (realm?: Realm): Issuer[] => (realm === undefined ? realms : [realm]).map(issuerOf)
  const apisOf = (realm?: Realm): Api[] => (realm === undefined ? realms : [realm]).map(apiOf)

  return {
    counts: () => ({
      issuers: perRealm((realm) => issuers[realm].counts()),
      apis: perRealm((realm) => apis[realm].counts()),
    }),
    resetCounts() {
      for (const realm of realms) {
        issuers[realm].resetCounts()
        apis[realm].resetCounts()
      }
    },

    expireTokens(realm) {
      for (const issuer of issuersOf(realm)) issuer.ledger.expireAll()
    },
    revokeTokens(realm) {
      for (const issuer of issuersOf(realm)) issuer.ledger.revokeAll()
    },
    setTokenLifetime(lifetime, realm) {
      checkLifetime('lifetime', lifetime)
      for (const issuer of issuersOf(realm)) issuer.ledger.lifetime = lifetime
    },

    rotateSecret(realm, options = {}) {
      const { overlap = false } = mustBeObject('options', options, ['overlap'])
      const { registration } = issuerOf(realm)
      registration.rotate({ overlap: mustBeBoolean('overlap', overlap) })
      return registration.credentials()
    },
    dropOldSecrets(realm) {
      issuerOf(realm).registration.dropOldSecrets()
    },

    slowIssuer(realm, ms) {
      issuerOf(realm).slowness = mustBeNumber('ms', ms, { min: 0, max: longestTime })
    },
    failIssuer(realm, failure) {
      issuerOf(realm).faults.set(issuerFailureAnswer(failure), checkedSpan(failure))
    },
    killIssuer(realm, span = {}) {
      mustBeObject('span', span, ['for', 'times'])
      issuerOf(realm).faults.set('kill', checkedSpan(span))
    },
    restoreIssuer(realm) {
      for (const issuer of issuersOf(realm)) {
        issuer.slowness = 0
        issuer.faults.clear()
      }
    },

    failApi(realm, failure) {
      apiOf(realm).faults.set(apiFailureAnswer(failure), checkedSpan(failure))
    },
    restoreApi(realm) {
      for (const api of apisOf(realm)) api.faults.clear()
    },
  }
}
