import { backoff } from '../time/backoff.ts'
import type { AccessToken } from '../token/access-token.ts'

/** Between two renewals that 401s force, in milliseconds: at first this, then doubling. */
const shortest = 1_000
const spacingAfter = backoff({ first: shortest, most: 60_000, jitter: 'half' })
/** The same after a renewal whose token was accepted: a token that is revoked then must not be used for long. */
const longestAfterUse = 5_000
/** Renewals in a row that stay `shortest` apart if their tokens are accepted. */
const mostQuick = 5
/** A token that is accepted this long after its renewal was worth its token request. */
const worthwhile = 10_000
/** An API that also refuses good tokens is believed after it has refused one for this long without accepting it. */
const suspicion = 1_000
/** An API that has accepted every token for this long is believed again. */
const forgiveness = 60_000

/** What the APIs of one issuer share. */
interface SharedToken {
  /** When a 401 last forced a renewal, on the monotonic clock. */
  readonly rejectedAt: number
  /** How long a call may wait for a token, in milliseconds. */
  readonly maxWait: number
}

/**
 * Decides when a 401 of one API forces a renewal.
 *
 * An API that refuses every token must not cost a token request for each call, and an endpoint that does so must not
 * cost the other endpoints their good token. So the renewals of one issuer are at least a second apart, and those of one
 * API ever further while they are not worthwhile: up to a minute, or 5 s if their tokens are accepted. A token that is
 * accepted after it was refused shows that the API refuses good tokens too. From then on, until it has refused no good
 * token for a minute, its 401s force a renewal only after a second without an acceptance.
 */
export class RejectionBackoff {
  readonly #shared: SharedToken
  /** Forced renewals in a row that were not worthwhile. */
  #inRow = 0
  #renewedAt = Number.NEGATIVE_INFINITY
  #renewAgainAt = Number.NEGATIVE_INFINITY
  /** The token that was dropped for the last forced renewal. */
  #dropped: AccessToken | undefined
  /** The token that this renewal brought, once a response to it was seen. */
  #successor: AccessToken | undefined
  /** Whether this API accepted that one; no more once it refused it to the call that forced the renewal. */
  #hasHelped = false
  #isReported = false
  /** The token that was refused and is used on, and since when. */
  #kept: AccessToken | undefined
  #keptSince = 0
  /** When this API last accepted a token that it had refused. */
  #refusedGoodTokenAt = Number.NEGATIVE_INFINITY
  /** Tells attempts sent before a token was refused and kept from those sent after, without a look at the clock. */
  #epoch = 0

  constructor(shared: SharedToken) {
    this.#shared = shared
  }

  /** Grows each time that a refused token is kept. An attempt notes it when it is sent. */
  get epoch(): number {
    return this.#epoch
  }

  /**
   * Returns how long the refused call shall wait for a renewal of the current token, in milliseconds: 0 if it is due,
   * and `undefined` if the 401 is final. It waits for a second at most, and not after a renewal for this API that has not
   * helped.
   *
   * @param wasRenewed whether the token was renewed for the very call that is refused again.
   */
  untilRenewal(token: AccessToken, wasRenewed: boolean): number | undefined {
    const now = performance.now()
    this.#successor ??= token
    if (wasRenewed && this.#successor === token) this.#hasHelped = false
    if (wasRenewed || !this.#isBelieved(token, now)) return this.#keep(token, now)
    const wait = Math.max(this.#renewAgainAt, this.#shared.rejectedAt + shortest) - now
    if (wait <= 0) return 0
    this.#keep(token, now)
    const mayBeRevoked = this.#inRow === 0 || this.#hasHelped || this.#successor !== token
    return mayBeRevoked && wait <= Math.min(shortest, this.#shared.maxWait) ? wait : undefined
  }

  /** Notes that a 401 forces a renewal now. */
  renewed(dropped: AccessToken): void {
    this.#inRow += 1
    this.#kept = undefined
    this.#dropped = dropped
    this.#successor = undefined
    this.#hasHelped = false
    this.#isReported = false
    this.#renewedAt = performance.now()
    this.#renewAgainAt = this.#renewedAt + Math.max(shortest, spacingAfter(this.#inRow))
  }

  /**
   * Returns whether a refused token is the one that the last forced renewal brought, which the API has not accepted:
   * `true` once for each renewal, and never for an API that also refuses good tokens.
   */
  isRepeated(refused: AccessToken): boolean {
    if (this.#inRow === 0 || this.#successor !== refused || this.#hasHelped || this.#isReported) return false
    if (this.#isDoubted(performance.now())) return false
    this.#isReported = true
    return true
  }

  /**
   * Notes that a token was accepted.
   *
   * @param epoch the epoch in which the attempt was sent.
   * @param wasRenewed whether the token was renewed for this very call.
   */
  accepted(token: AccessToken, epoch: number, wasRenewed: boolean): void {
    // the usual case
    if (this.#inRow === 0 && this.#kept === undefined) return
    // the response was late
    if (this.#dropped === token) return
    const now = performance.now()
    if (wasRenewed) this.#refusedGoodTokenAt = Number.NEGATIVE_INFINITY
    if (this.#kept === token && epoch === this.#epoch) {
      this.#kept = undefined
      this.#refusedGoodTokenAt = now
    }
    if (this.#isDoubted(now)) return
    if (now >= this.#renewedAt + worthwhile) {
      this.#inRow = 0
      return
    }
    this.#successor ??= token
    this.#hasHelped ||= this.#successor === token
    const afterUse = this.#inRow < mostQuick ? shortest : longestAfterUse
    this.#renewAgainAt = Math.min(this.#renewAgainAt, this.#renewedAt + afterUse)
  }

  #isBelieved(token: AccessToken, now: number): boolean {
    return !this.#isDoubted(now) || (this.#kept === token && now >= this.#keptSince + suspicion)
  }

  /** Whether this API has lately refused tokens that it accepts. */
  #isDoubted(now: number): boolean {
    return now < this.#refusedGoodTokenAt + forgiveness
  }

  #keep(token: AccessToken, now: number): undefined {
    if (this.#kept === token) return
    this.#kept = token
    this.#keptSince = now
    this.#epoch += 1
  }
}
