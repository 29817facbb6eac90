import { invalidToken, problem, type Answer } from '../server/answer.ts'
import type { TokenState } from '../issuer/token-ledger.ts'

const details: Record<Exclude<TokenState, 'live'>, string> = {
  expired: 'The access token expired',
  revoked: 'The access token was revoked',
  unknown: "The access token is not from this API's issuer",
}

/** Returns the bearer token in an `Authorization` header; `undefined` without one (RFC 6750 §2.1). */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +(.+)$/i.exec(authorization ?? '')?.[1]
}

/**
 * Checks the `Authorization` header of a call (RFC 6750 §3).
 *
 * @returns the refusal, or `undefined` if the call may go on.
 */
export async function refuseToken(
  authorization: string | undefined,
  verify: (token: string) => Promise<TokenState>,
): Promise<Answer | undefined> {
  const token = bearerToken(authorization)
  // a call without a token gets a challenge without an error code: RFC 6750 §3.1
  if (token === undefined)
    return problem(401, 'The call has no bearer token', { 'www-authenticate': 'Bearer' })
  const state = await verify(token)
  return state === 'live' ? undefined : invalidToken(details[state])
}
