import type { RenewalReason } from '../events.ts'
import type { Grant } from '../issuer/token-source.ts'
import { betweenHalfAndWhole } from '../time/backoff.ts'
import { AccessToken } from './access-token.ts'

/**
 * How a token may be used now: `fresh` as it is, `aging` while a background renewal runs, `old` only if a renewal fails,
 * `expired` not at all.
 */
type Age = 'fresh' | 'aging' | 'old' | 'expired'

/** Calls wait for the renewal when the token has at most this left, or a fortieth of its lifetime if that is less. */
const longestFloor = 10_000

/** The token that calls to the APIs of one issuer get, when it ages, and why it is to be renewed. */
export class HeldToken {
  readonly #issuer: string
  readonly #margin: number | undefined
  #grant: Grant | undefined
  #renewBefore = 0
  /** `undefined` before the first one, and after a 401 dropped it. */
  token: AccessToken | undefined
  /** When a 401 last dropped a token, on the monotonic clock. */
  rejectedAt: number = Number.NEGATIVE_INFINITY

  /** @param margin when a token's renewal begins, in milliseconds before its end; by default a tenth of its lifetime, jittered. */
  constructor(issuer: string, margin: number | undefined) {
    this.#issuer = issuer
    this.#margin = margin
  }

  get age(): Age | undefined {
    return this.#grant && ageOf(this.#grant, this.#renewBefore)
  }

  /** Returns the token if it can still be sent, even if calls should rather wait for a renewal. */
  unexpired(): AccessToken | undefined {
    return this.age === 'expired' ? undefined : this.token
  }

  /**
   * Returns the milliseconds until calls wait for a renewal or, if they already do, until the token expires; `undefined`
   * without a token that can be sent.
   */
  timeUntilOld(): number | undefined {
    if (this.#grant === undefined) return undefined
    const left = this.#grant.expiry.remaining()
    if (left <= 0) return undefined
    const floor = floorOf(this.#grant)
    return left > floor ? left - floor : left
  }

  /** Gives calls this token from now on. */
  use(grant: Grant): AccessToken {
    this.token = new AccessToken(grant.token, this.#issuer, grant.expiry.date)
    this.#grant = grant
    this.#renewBefore = this.#renewBeforeOf(grant)
    return this.token
  }

  /** Returns whether this token should replace the current one. */
  wouldAccept(grant: Grant): boolean {
    const age = ageOf(grant, this.#renewBeforeOf(grant))
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
    if (this.token !== undefined) return this.age === 'aging' ? 'ahead' : 'expired'
    return this.rejectedAt === Number.NEGATIVE_INFINITY ? 'startup' : 'rejected'
  }

  /** At most half of the lifetime, or a short token would be renewed on every call. */
  #renewBeforeOf({ lifetime }: Grant): number {
    return Math.min(this.#margin ?? betweenHalfAndWhole(lifetime / 10), lifetime / 2)
  }
}

function ageOf(grant: Grant, renewBefore: number): Age {
  const left = grant.expiry.remaining()
  const floor = floorOf(grant)
  if (left > Math.max(renewBefore, floor)) return 'fresh'
  if (left > floor) return 'aging'
  return left > 0 ? 'old' : 'expired'
}

/**
 * Returns the time before the end in which calls wait: at most half of the smallest margin that is drawn, or some would
 * wait for a renewal that could have ended before they came.
 */
function floorOf({ lifetime }: Grant): number {
  return Math.min(longestFloor, lifetime / 40)
}
