import { inSeconds } from '../in-words.ts'
import type { TokenState } from '../issuer/token-ledger.ts'
import type { LedgerEntry, Outcome } from '../journal/entry.ts'
import type { Realm } from '../realm.ts'
import { invalidToken, problem, type Answer } from '../server/answer.ts'

/** Returns the bearer token in an `Authorization` header; `undefined` without one (RFC 6750 §2.1). */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +(.+)$/i.exec(authorization ?? '')?.[1]
}

export interface KnownToken {
  issuer: Realm
  entry: LedgerEntry
  state: TokenState
}

/** How long a call may have been on its way, in milliseconds. */
const timeOnItsWay = 50

/** What programs send if they do not look whether the token response has a token. */
const placeholders = new Set(['undefined', 'null', 'None', 'nil', 'NaN', '[object Object]'])

/** A call with a live token, or its refusal (RFC 6750 §3). */
type Judged = Outcome & { refusal?: Answer }

/**
 * Checks the token of a call, and returns in plain words what is right or wrong with it.
 *
 * @param challenge - what a call without a token is asked for; it has no error code (RFC 6750 §3.1).
 */
export function judgeToken(
  token: string | undefined,
  known: KnownToken | undefined,
  { realm, now, reachedAt, challenge = 'Bearer' }: Circumstances,
): Judged {
  if (token === undefined) {
    const refusal = problem(401, 'The call has no bearer token', { 'www-authenticate': challenge })
    return { decision: 'refused', reason: 'no bearer token', flaws: ['missing-token'], refusal }
  }
  if (known?.issuer !== realm) {
    const isForeign = known !== undefined
    return {
      decision: 'refused',
      ...(isForeign ? { entry: known.entry } : { token: 'unknown' }),
      reason: isForeign
        ? `token from the ${known.issuer} issuer at the ${realm} API`
        : reasonOfUnknown(token),
      flaws: ['foreign-token'],
      refusal: invalidToken("The access token is not from this API's issuer"),
    }
  }
  const { entry, state } = known
  if (state === 'live')
    return { decision: 'answered', reason: `live token, ${inSeconds(entry.expiresAt - now)} left`, entry }
  const isRevoked = state === 'revoked'
  const early = isRevoked || entry.expiresAt < entry.promisedUntil
  const end = (isRevoked ? entry.revokedAt : undefined) ?? entry.expiresAt
  // not the mistake of the client: a token that ended early, or a sandbox that read the call late
  const isMistake = !early && entry.promisedUntil + timeOnItsWay <= reachedAt
  return {
    decision: 'refused',
    entry,
    reason: `${state} ${inSeconds(now - end)} ago${!isRevoked && early ? ', earlier than promised' : ''}`,
    flaws: isMistake ? ['expired-token'] : [],
    refusal: invalidToken(isRevoked ? 'The access token was revoked' : 'The access token expired'),
  }
}

interface Circumstances {
  realm: Realm
  now: number
  reachedAt: number
  challenge?: string | undefined
}

function reasonOfUnknown(token: string): string {
  return placeholders.has(token)
    ? `the text "${token}" instead of a token`
    : 'token that no issuer of this sandbox issued'
}
