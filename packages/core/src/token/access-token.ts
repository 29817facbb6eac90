const redacted = '[redacted]'
const inspect = Symbol.for('nodejs.util.inspect.custom')

/** A bearer token (RFC 6750). Only `value` reveals it: printed, logged or as JSON, the token is `[redacted]`. */
export class AccessToken {
  /** Name of the issuer, as given in `issuers`. */
  readonly issuer: string
  readonly #value: string
  readonly #expiresAt: number

  /** @internal Tokens come from `getToken`. */
  constructor(value: string, issuer: string, expiresAt: number) {
    this.issuer = issuer
    this.#value = value
    this.#expiresAt = expiresAt
  }

  /** The token itself, in plain text. Keep it out of logs. */
  get value(): string {
    return this.#value
  }

  get tokenType(): 'Bearer' {
    return 'Bearer'
  }

  /** When the token expires, counted from the moment before its request was sent (RFC 6749 §5.1, `expires_in`). */
  get expiresAt(): Date {
    return new Date(this.#expiresAt)
  }

  toString(): string {
    return redacted
  }

  toJSON(): string {
    return redacted
  }
}

Object.defineProperty(AccessToken.prototype, inspect, { value: (): string => redacted })
