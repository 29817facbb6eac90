import { backoff } from '../time/backoff.ts'
import type { AccessToken } from '../token/access-token.ts'

/** Between two renewals that an API's 401s force, in milliseconds: at first this, then doubling. */
const shortest = 1_000
const longest = 60_000
/** The same after a renewal whose token was accepted: a token that is revoked then must not be used for long. */
const longestAfterUse = 5_000
const mostHurried = 4
/** A token that is accepted this long after its renewal was worth its token request. */
const worthwhile = 10_000
/** An API that also refuses good tokens is believed after it has refused one for this long without accepting it. */
const suspicion = 1_000
/** An API that has accepted every token for this long is believed again. */
const forgiveness = 60_000

/**
 * Decides whether a 401 forces a renewal.
 *
 * An API that refuses every token must not cost a token request for each call, and an endpoint that does so must not
 * cost the other endpoints their good token. So renewals are at least a second apart, and ever further while they are not
 * worthwhile: up to a minute, or 5 s if their tokens are accepted. A few are not spaced: a token that was renewed and
 * accepted may be revoked at once. A token that is accepted after it was refused shows that the API refuses good tokens
 * too. From then on, until it has refused none for a minute, its 401s force a renewal only after a second without an
 * acceptance.
 */
export class RejectionBackoff {
  /** Forced renewals in a row that were not worthwhile. */
  #inRow = 0
  #renewedAt = Number.NEGATIVE_INFINITY
  #renewAgainAt = Number.NEGATIVE_INFINITY
  /** Renewals that were allowed before their time, since the last worthwhile one. */
  #hurried = 0
  /** The token that was refused and is used on, and since when. */
  #kept: AccessToken | undefined
  #keptSince = 0
  /** When this API last accepted a token that it had refused. */
  #refusedGoodTokenAt = Number.NEGATIVE_INFINITY
  /** Tells attempts sent before a token was refused and kept from those sent after, without a look at the clock. */
  #epoch = 0

  /** Grows each time that a refused token is kept. An attempt notes it when it is sent. */
  get epoch(): number {
    return this.#epoch
  }

  /**
   * Returns whether the current token, which was just refused, shall be renewed. If so, the next has to wait.
   *
   * @param wasRenewed whether it was renewed for the very call that is refused again.
   */
  mayRenew(token: AccessToken, wasRenewed: boolean): boolean {
    const now = performance.now()
    if (wasRenewed || now < this.#renewAgainAt || !this.#isBelieved(token, now)) {
      this.#keep(token, now)
      return false
    }
    this.#inRow += 1
    this.#kept = undefined
    this.#renewedAt = now
    this.#renewAgainAt = now + spacing(this.#inRow)
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
    const now = performance.now()
    if (wasRenewed) this.#refusedGoodTokenAt = Number.NEGATIVE_INFINITY
    if (this.#kept === token && epoch === this.#epoch) {
      this.#kept = undefined
      this.#refusedGoodTokenAt = now
    }
    if (this.#isDoubted(now)) return
    if (now >= this.#renewedAt + worthwhile) {
      this.#inRow = 0
      this.#hurried = 0
      return
    }
    this.#renewAgainAt = Math.min(this.#renewAgainAt, this.#renewedAt + longestAfterUse)
    if (now >= this.#renewAgainAt || this.#hurried === mostHurried) return
    this.#hurried += 1
    this.#renewAgainAt = now
  }

  #isBelieved(token: AccessToken, now: number): boolean {
    return !this.#isDoubted(now) || (this.#kept === token && now >= this.#keptSince + suspicion)
  }

  /** Whether this API has lately refused tokens that it accepts. */
  #isDoubted(now: number): boolean {
    return now < this.#refusedGoodTokenAt + forgiveness
  }

  #keep(token: AccessToken, now: number): void {
    if (this.#kept === token) return
    this.#kept = token
    this.#keptSince = now
    this.#epoch += 1
  }
}

function spacing(renewals: number): number {
  return renewals === 1 ? shortest : backoff(renewals, shortest, longest)
}
