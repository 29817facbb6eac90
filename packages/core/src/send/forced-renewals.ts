import type { Emit } from '../events.ts'
import { pause } from '../time/delay.ts'
import type { AccessToken } from '../token/access-token.ts'
import type { CurrentToken } from '../token/renewing-token.ts'
import type { RejectionBackoff } from './rejection-backoff.ts'

/** What is renewed, for which API, and when that is due. */
export interface Refused {
  readonly baseUrl: string
  readonly issuer: string
  /** Of the API among the `apis` of the options. */
  readonly index: number
  readonly token: CurrentToken
  /** Decides when a 401 forces a renewal. */
  readonly rejections: Pick<
    RejectionBackoff,
    'epoch' | 'untilRenewal' | 'renewed' | 'accepted' | 'isRepeated'
  >
  readonly emit: Emit
}

/** Drops a refused token: every call that needs one waits for the renewal from now on. */
export function dropRefused(
  { baseUrl, issuer, token, rejections, emit }: Refused,
  refused: AccessToken,
): void {
  rejections.renewed(refused)
  token.invalidate(refused)
  emit?.({ type: 'token.rejected', issuer, api: baseUrl })
}

/** Reports a refusal that is final, where it shows that new tokens do not help. */
export function reportRepeated(
  { baseUrl, issuer, index, rejections, emit }: Refused,
  refused: AccessToken,
): void {
  if (!rejections.isRepeated(refused)) return
  emit?.({ type: 'rejection.repeated', issuer, api: baseUrl, option: `apis[${index}].issuer` })
}

/**
 * Waits until a refused token may be dropped, and drops it, unless the API accepts it meanwhile.
 *
 * @param wait how long that takes, in milliseconds.
 * @returns whether the token was replaced.
 * @throws the signal's reason if it aborts.
 */
export async function dropWhenDue(
  api: Refused,
  refused: AccessToken,
  wait: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { token, rejections } = api
  for (let left: number | undefined = wait; left !== undefined && left > 0;) {
    await pause(left, signal)
    if (!token.isCurrent(refused)) return true
    // a timer may fire early
    left = rejections.untilRenewal(refused, false)
    if (left === 0) dropRefused(api, refused)
  }
  return !token.isCurrent(refused)
}
