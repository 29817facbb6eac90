import type { Emit } from '../events.ts'
import type { IssuerStatus } from '../manager/token-manager.ts'
import { TokenlaneError, type TokenlaneErrorCode } from '../errors.ts'
import { oneOf, type Reader } from '../options/reader.ts'
import { AccessToken } from '../access-token.ts'
import type { CurrentToken, RenewingToken } from '../token/renewing-token.ts'

export type TokenFailure = Extract<
  TokenlaneErrorCode,
  | 'CREDENTIALS_UNAVAILABLE'
  | 'TOKEN_REQUEST_REFUSED'
  | 'TOKEN_REQUEST_FAILED'
  | 'TOKEN_REQUEST_TIMEOUT'
  | 'TOKEN_RESPONSE_INVALID'
>

export const readFailure: Reader<TokenFailure> = oneOf([
  'CREDENTIALS_UNAVAILABLE',
  'TOKEN_REQUEST_REFUSED',
  'TOKEN_REQUEST_FAILED',
  'TOKEN_REQUEST_TIMEOUT',
  'TOKEN_RESPONSE_INVALID',
])

/** The same in every run, so that it can stand in a snapshot. */
const end = Date.UTC(2100, 0)

/** A fake issuer: its token comes at once and never expires; there is another one after each 401. */
export interface FakeIssuer {
  readonly token: CurrentToken & Pick<RenewingToken, 'isIdle' | 'close'>
  failOnce(code: TokenFailure): void
  status(): IssuerStatus
}

export function fakeIssuer(issuer: string, firstValue: string, emit: Emit): FakeIssuer {
  const failures: TokenFailure[] = []
  let number = 1
  let token: AccessToken | undefined
  const current = (): AccessToken => {
    if (token !== undefined) return token
    const reason = number === 1 ? 'startup' : 'rejected'
    token = new AccessToken(number === 1 ? firstValue : `${firstValue}-${number}`, issuer, end)
    const { expiresAt } = token
    emit({ type: 'token.renewed', issuer, expiresAt, duration: 0, reason, joiners: 0 })
    return token
  }
  const forget = (): void => {
    if (token !== undefined) number += 1
    token = undefined
  }
  const shared: FakeIssuer['token'] = {
    // nothing is renewed in the background, and nothing is waited for
    isIdle: true,
    maxWait: 0,
    failure: undefined,
    async close() {},
    live: () => (failures.length > 0 ? undefined : current()),
    async wait() {
      const code = failures.shift()
      if (code === undefined) return current()
      token = undefined
      const reason = '`failOnce` made it fail'
      const failed = { issuer, code, endpoint: 'fakeTokens', reason, repeats: 0, retryIn: 0 }
      emit({ type: 'renewal.failed', ...failed, tokenStillValid: false, failFast: true })
      throw new TokenlaneError(code, `Cannot obtain token for issuer "${issuer}": ${reason}`, { issuer })
    },
    held: {
      get token() {
        return token
      },
      grant: undefined,
      rejectedAt: Number.NEGATIVE_INFINITY,
      former: () => undefined,
      drop: forget,
      forget,
    },
  }
  return {
    token: shared,
    failOnce: (code) => void failures.push(code),
    status: () =>
      token === undefined ? { token: 'none' } : { token: 'live', expiresAt: token.expiresAt.toISOString() },
  }
}
