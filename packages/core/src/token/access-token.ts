import type { Expiry } from '../time/expiry.ts'

const redacted = '[redacted]'
const inspect = Symbol.for('nodejs.util.inspect.custom')

/**
 * A bearer token (RFC 6750). Printing it in any way gives `[redacted]`; only `value` holds the secret.
 */
export class AccessToken {
  readonly #value: string
  readonly #issuer: string
  readonly #expiry: Expiry
  readonly #authorization: string
  readonly #freshness: Expiry
  readonly #floor: number

  /** @internal Tokens come from `getToken`. */
  constructor(
    value: string,
    issuer: string,
    expiry: Expiry,
    margins: { renewBefore: number; floor: number },
  ) {
    this.#value = value
    this.#issuer = issuer
    this.#expiry = expiry
    this.#authorization = `Bearer ${value}`
    this.#freshness = expiry.sooner(Math.max(margins.renewBefore, margins.floor))
    this.#floor = margins.floor
  }

  /** The token itself. Keep it out of logs. */
  get value(): string {
    return this.#value
  }

  get tokenType(): 'Bearer' {
    return 'Bearer'
  }

  /** Name of the issuer, as given in `issuers`. */
  get issuer(): string {
    return this.#issuer
  }

  /** When the token expires, counted from the moment before it was asked for (RFC 6749 §5.1, `expires_in`). */
  get expiresAt(): Date {
    return this.#expiry.date
  }

  toString(): string {
    return redacted
  }

  toJSON(): string {
    return redacted
  }

  /** @internal The `Authorization` header field for this token. */
  static authorization(token: AccessToken): string {
    return token.#authorization
  }

  /**
   * @internal How a token may be used now: `fresh` as it is; `aging` as it is while a renewal starts in the
   * background; `old` only if a renewal fails; `expired` not at all.
   */
  static age(token: AccessToken): 'fresh' | 'aging' | 'old' | 'expired' {
    if (!token.#freshness.isOver()) return 'fresh'
    const left = token.#expiry.remaining()
    if (left > token.#floor) return 'aging'
    return left > 0 ? 'old' : 'expired'
  }

  /** @internal Milliseconds until calls wait for a renewal, or, once they do, until the token expires. */
  static timeUntilOld(token: AccessToken): number {
    const left = token.#expiry.remaining()
    return left > token.#floor ? left - token.#floor : Math.max(0, left)
  }
}

Object.defineProperty(AccessToken.prototype, inspect, { value: (): string => redacted })
