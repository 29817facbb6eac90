import { inSeconds } from '../in-words.ts'
import type { TokenState } from '../issuer/token-ledger.ts'
import type { LedgerEntry, Outcome } from '../journal/entry.ts'
import type { Realm } from '../realm.ts'
import { invalidToken, problem, type Answer } from '../server/answer.ts'

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

/** A token as an issuer of this sandbox remembers it. */
export interface KnownToken {
  issuer: Realm
  entry: LedgerEntry
  state: TokenState
}

/** How long a call may have been on its way, in milliseconds. */
const timeOnItsWay = 50

/** What programs send if they do not look whether the token response has a token. */
const placeholders = new Set(['undefined', 'null', 'None', 'nil', 'NaN', '[object Object]'])

/** Checks the token of a call, and returns in plain words what is right or wrong with it. */
export function judgeToken(
  token: string | undefined,
  known: KnownToken | undefined,
  { realm, now, reachedAt }: { realm: Realm; now: number; reachedAt: number },
): Outcome & { live: boolean } {
  const refused = { live: false, decision: 'refused', entry: known?.entry } as const
  if (token === undefined) return { ...refused, reason: 'no bearer token', flaws: ['missing-token'] }
  if (known === undefined) {
    const reason = placeholders.has(token)
      ? `the text "${token}" instead of a token`
      : 'token that no issuer of this sandbox issued'
    return { ...refused, token: 'unknown', reason, flaws: ['foreign-token'] }
  }
  const { issuer, entry, state } = known
  if (issuer !== realm) {
    return {
      ...refused,
      reason: `token from the ${issuer} issuer at the ${realm} API`,
      flaws: ['foreign-token'],
    }
  }
  if (state === 'live') {
    return {
      live: true,
      decision: 'answered',
      reason: `live token, ${inSeconds(entry.expiresAt - now)} left`,
      entry,
    }
  }
  const early = state === 'revoked' || entry.expiresAt < entry.promisedUntil
  const end = (state === 'revoked' ? entry.revokedAt : undefined) ?? entry.expiresAt
  const reason = `${state} ${inSeconds(now - end)} ago${state === 'expired' && early ? ', earlier than promised' : ''}`
  // not the mistake of the client: a token that ended early, or a sandbox that read the call late
  const isMistake = !early && entry.promisedUntil + timeOnItsWay <= reachedAt
  return { ...refused, reason, flaws: isMistake ? ['expired-token'] : [] }
}
