import type { Expiry } from '../time/expiry.ts'

const redacted = '[redacted]'
const inspect = Symbol.for('nodejs.util.inspect.custom')

/** When a token's renewal begins, and when calls wait for it: in milliseconds before the token expires. */
interface TokenMargins {
  readonly renewBefore: number
  readonly floor: number
}

/** A bearer token (RFC 6750). Only `value` reveals it: printed, logged or as JSON, the token is `[redacted]`. */
export class AccessToken {
  readonly #value: string
  readonly #authorization: string
  readonly #issuer: string
  readonly #expiry: Expiry
  readonly #margins: TokenMargins

  /** @internal Tokens come from `getToken`. */
  constructor(value: string, issuer: string, expiry: Expiry, margins: TokenMargins) {
    this.#value = value
    this.#authorization = `Bearer ${value}`
    this.#issuer = issuer
    this.#expiry = expiry
    this.#margins = margins
  }

  /** The token itself, in plain text. Keep it out of logs. */
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

  /** When the token expires, counted from the moment before its request was sent (RFC 6749 §5.1, `expires_in`). */
  get expiresAt(): Date {
    return this.#expiry.date
  }

  toString(): string {
    return redacted
  }

  toJSON(): string {
    return redacted
  }

  /** @internal Returns the value of the `Authorization` header for this token. */
  static authorization(token: AccessToken): string {
    return token.#authorization
  }

  /**
   * @internal Returns how a token may be used now: `fresh` as it is, `aging` while a background renewal runs, `old`
   * only if a renewal fails, `expired` not at all.
   */
  static age(token: AccessToken): 'fresh' | 'aging' | 'old' | 'expired' {
    const left = token.#expiry.remaining()
    const { renewBefore, floor } = token.#margins
    if (left > Math.max(renewBefore, floor)) return 'fresh'
    if (left > floor) return 'aging'
    return left > 0 ? 'old' : 'expired'
  }

  /** @internal Returns the milliseconds until calls wait for a renewal or, if they already do, until the token expires. */
  static timeUntilOld(token: AccessToken): number {
    const left = token.#expiry.remaining()
    const { floor } = token.#margins
    return left > floor ? left - floor : Math.max(0, left)
  }
}

Object.defineProperty(AccessToken.prototype, inspect, { value: (): string => redacted })
