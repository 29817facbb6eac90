const redacted = '[redacted]'
const inspect = Symbol.for('nodejs.util.inspect.custom')
/** Structured cloning throws for a symbol and quotes it: a copy of the token would have no `value`. */
const uncloneable = Symbol('an access token cannot be copied or sent to another thread: pass its `value`')

/**
 * A bearer token (RFC 6750). Only `value` reveals it: printed, logged or as JSON, the token is `[redacted]`. Used as text,
 * as in `Bearer ${token}`, or posted to another thread, it throws.
 */
export class AccessToken {
  /** Name of the issuer, as given in `issuers`. */
  readonly issuer: string
  /** @internal */
  readonly copy: symbol = uncloneable
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

  toJSON(): string {
    return redacted
  }

  /** @throws TypeError always: a token used as text would be sent as `Bearer [redacted]`. */
  valueOf(): never {
    throw new TypeError('Cannot use access token as text: it is hidden; use `token.value`')
  }
}

// without `toString`, `%s` in a log line prints what `inspect` does, and any other use as text asks `valueOf`
Object.defineProperty(AccessToken.prototype, 'toString', { value: undefined })
Object.defineProperty(AccessToken.prototype, inspect, { value: (): string => redacted })
