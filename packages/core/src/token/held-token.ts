import type { RenewalReason } from '../events.ts'
import type { Grant } from '../issuer/token-source.ts'
import { betweenHalfAndWhole } from '../time/backoff.ts'
import { AccessToken } from './access-token.ts'

/** Whose token it is, and when its renewal begins; in milliseconds before its end. */
export interface TokenOptions {
  /** Name of the issuer. */
  readonly issuer: string
  /** `undefined`: a tenth of the lifetime, jittered. */
  readonly renewBefore: number | undefined
}

/** Calls wait for the renewal when the token has at most this left, or a fortieth of its lifetime if that is less. */
const longestFloor = 10_000

/** The token that calls to the APIs of one issuer get, when it ages, and why it is to be renewed. */
export class HeldToken {
  readonly #options: TokenOptions
  #grant: Grant | undefined
  /** `undefined` before the first one, and after a 401 dropped it. */
  token: AccessToken | undefined
  /** When a 401 last dropped a token, on the monotonic clock. */
  rejectedAt: number = Number.NEGATIVE_INFINITY

  constructor(options: TokenOptions) {
    this.#options = options
  }

  /** Returns the token if it can still be sent, even if calls should rather wait for a renewal. */
  unexpired(): AccessToken | undefined {
    const { token } = this
    return token !== undefined && AccessToken.age(token) !== 'expired' ? token : undefined
  }

  /** Gives calls this token from now on. */
  use(grant: Grant): AccessToken {
    this.token = this.#tokenOf(grant)
    this.#grant = grant
    return this.token
  }

  /** Returns whether this token should replace the current one. */
  wouldAccept(grant: Grant): boolean {
    const age = AccessToken.age(this.#tokenOf(grant))
    return age === 'fresh' || (age === 'aging' && this.unexpired() === undefined)
  }

  /** Drops the token after a 401, if it is still this one. */
  drop(token: AccessToken): void {
    if (this.token !== token) return
    this.#grant?.drop?.()
    this.token = undefined
    this.#grant = undefined
    this.rejectedAt = performance.now()
  }

  /** Returns why the token is to be renewed. */
  reason(): RenewalReason {
    const { token } = this
    if (token !== undefined) return AccessToken.age(token) === 'aging' ? 'ahead' : 'expired'
    return this.rejectedAt === Number.NEGATIVE_INFINITY ? 'startup' : 'rejected'
  }

  #tokenOf({ token, lifetime, expiry }: Grant): AccessToken {
    const { issuer, renewBefore = betweenHalfAndWhole(lifetime / 10) } = this.#options
    return new AccessToken(token, issuer, expiry, {
      // at most half of the lifetime, or a short token would be renewed on every call
      renewBefore: Math.min(renewBefore, lifetime / 2),
      // at most half of the smallest margin that is drawn, or some calls would wait for a renewal that could have
      // ended before they came
      floor: Math.min(longestFloor, lifetime / 40),
    })
  }
}
