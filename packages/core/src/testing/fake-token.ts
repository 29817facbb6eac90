import type { Emit } from '../events.ts'
import { TokenlaneError, type TokenlaneErrorCode } from '../errors.ts'
import { Expiry } from '../time/expiry.ts'
import { AccessToken } from '../token/access-token.ts'
import type { CurrentToken } from '../token/renewing-token.ts'

/** Why a call can have no token. */
export type TokenFailure = Extract<
  TokenlaneErrorCode,
  | 'CREDENTIALS_UNAVAILABLE'
  | 'TOKEN_REQUEST_REFUSED'
  | 'TOKEN_REQUEST_FAILED'
  | 'TOKEN_REQUEST_TIMEOUT'
  | 'TOKEN_RESPONSE_INVALID'
>

/** The same in every run, so that it can stand in a snapshot. */
const end = Expiry.of(Date.UTC(2100, 0), { wall: 0, monotonic: 0 })

/** The token of one issuer that does not exist: there at once, valid for ever, and another one after each 401. */
export class FakeToken implements CurrentToken {
  readonly #issuer: string
  readonly #value: string
  readonly #emit: Emit
  readonly #failures: TokenFailure[] = []
  #number = 1
  #token: AccessToken | undefined

  constructor(issuer: string, value: string, emit: Emit) {
    this.#issuer = issuer
    this.#value = value
    this.#emit = emit
  }

  live(): AccessToken | undefined {
    if (this.#failures.length > 0) return undefined
    return (this.#token ??= this.#next())
  }

  async wait(): Promise<AccessToken> {
    const code = this.#failures.shift()
    if (code === undefined) return (this.#token ??= this.#next())
    this.#token = undefined
    this.#emit?.({
      type: 'renewal.failed',
      issuer: this.#issuer,
      code,
      endpoint: 'fakeTokens',
      reason: '`failOnce` asked for this',
      retryIn: 0,
      tokenStillValid: false,
    })
    throw new TokenlaneError(
      code,
      `Cannot obtain token: \`failOnce\` asked for this, for "${this.#issuer}"`,
      {
        issuer: this.#issuer,
      },
    )
  }

  isCurrent(token: AccessToken): boolean {
    return this.#token === token
  }

  invalidate(token: AccessToken): void {
    if (this.#token !== token) return
    this.#token = undefined
    this.#number += 1
  }

  /** Lets the next call that needs a token fail. */
  failOnce(code: TokenFailure): void {
    this.#failures.push(code)
  }

  /** Nothing is renewed in the background. */
  get isIdle(): boolean {
    return true
  }

  async close(): Promise<void> {}

  status(): { token: 'none' | 'live'; expiresAt?: string } {
    return this.#token === undefined
      ? { token: 'none' }
      : { token: 'live', expiresAt: end.date.toISOString() }
  }

  #next(): AccessToken {
    const value = this.#number === 1 ? this.#value : `${this.#value}-${this.#number}`
    const reason = this.#number === 1 ? 'startup' : 'rejected'
    const issuer = this.#issuer
    this.#emit?.({ type: 'token.renewed', issuer, expiresAt: end.date, duration: 0, reason, joiners: 0 })
    return new AccessToken(value, issuer, end, { renewBefore: 0, floor: 0 })
  }
}
