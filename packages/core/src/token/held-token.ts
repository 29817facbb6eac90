import type { RenewalReason } from '../events.ts'
import type { Grant } from '../issuer/token-source.ts'
import { betweenHalfAndWhole } from '../time/backoff.ts'
import { timeUntil } from '../time/expiry.ts'
import { AccessToken } from '../access-token.ts'

/** Calls wait for the renewal when the token has at most this left, or a fortieth of its lifetime if that is less. */
const longestFloor = 10_000

interface HeldTokenOptions {
  readonly issuer: string
  readonly renewBefore: number | undefined
}

/** The token that calls get, when it is to be renewed, and why; times are in milliseconds before it expires. */
export class HeldToken {
  readonly #options: HeldTokenOptions
  /** Which part of a lifetime before its end this process renews. */
  readonly #margin = betweenHalfAndWhole(0.1)
  grant: Grant | undefined
  /** `undefined` before the first one, and after a 401 dropped it. */
  token: AccessToken | undefined
  renewBefore = 0
  /** When calls wait for its renewal. They can still have it if that fails. */
  floor = 0
  /** The one before it, if its renewal came ahead of expiry. */
  #former: { readonly token: AccessToken; readonly grant: Grant; readonly floor: number } | undefined
  /** Whether a token from a shared store is not to be used: it may be one that was to be dropped. */
  distrustsStored = false
  /** How often tokens were dropped by hand. */
  forgotten = 0
  /** When a 401 last dropped a token, on the monotonic clock. */
  rejectedAt: number = Number.NEGATIVE_INFINITY

  constructor(options: HeldTokenOptions) {
    this.#options = options
  }

  /** How much time is left; 0 or less without a token that can be sent. */
  get left(): number {
    return this.grant === undefined ? 0 : timeUntil(this.grant.expiry)
  }

  /** Returns the token if it can still be sent, even if calls should rather wait for a renewal. */
  unexpired(): AccessToken | undefined {
    return this.left > 0 ? this.token : undefined
  }

  /**
   * Returns the time until calls wait for a renewal or, if they already do, until the token expires; `undefined` without
   * a token that can be sent.
   */
  timeUntilOld(): number | undefined {
    const { left, floor } = this
    if (left <= 0) return undefined
    return left > floor ? left - floor : left
  }

  /** Returns the token before the current one, while it can be sent. */
  former(): AccessToken | undefined {
    if (this.#former === undefined) return undefined
    const { token, grant, floor } = this.#former
    return timeUntil(grant.expiry) > floor ? token : undefined
  }

  use(grant: Grant): AccessToken {
    const { token, grant: old, floor } = this
    // some issuers return the same token until it expires
    if (token !== undefined && old !== undefined && token.value !== grant.token)
      this.#former = { token, grant: old, floor }
    this.token = new AccessToken(grant.token, this.#options.issuer, grant.expiry.wall)
    this.grant = grant
    Object.assign(this, this.#marginsOf(grant))
    return this.token
  }

  wouldAccept(grant: Grant): boolean {
    const left = timeUntil(grant.expiry)
    const { renewBefore, floor } = this.#marginsOf(grant)
    return left > floor && (left > renewBefore || this.left <= 0)
  }

  /** Drops the token by hand, also in a shared store. */
  forget(): void {
    this.forgotten += 1
    this.distrustsStored = this.grant === undefined
    this.#former = undefined
    this.drop(this.rejectedAt)
  }

  /** Drops the token, after a 401 if not by hand. The one before it stays, for other APIs. */
  drop(rejectedAt: number = performance.now()): void {
    this.grant?.drop?.()
    this.token = undefined
    this.grant = undefined
    this.rejectedAt = rejectedAt
  }

  reason(): RenewalReason {
    if (this.token !== undefined) return this.left > this.floor ? 'ahead' : 'expired'
    return this.rejectedAt === Number.NEGATIVE_INFINITY ? 'startup' : 'rejected'
  }

  #marginsOf({ lifetime }: Grant): Pick<HeldToken, 'renewBefore' | 'floor'> {
    const { renewBefore = this.#margin * lifetime } = this.#options
    return {
      // a short token would be renewed on every call
      renewBefore: Math.min(renewBefore, lifetime / 2),
      // half of the smallest margin drawn: calls must not wait for a renewal that could have ended before
      floor: Math.min(longestFloor, lifetime / 40),
    }
  }
}
