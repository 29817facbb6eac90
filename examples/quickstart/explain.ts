import type { IssuerCounts } from '@tokenlane/sandbox'

import type { History } from './history.ts'

/** Why a token was needed: the first one, the one before at its end, or the one before revoked. */
type Need = 'startup' | 'expiry' | 'revocation'

/** A token may be renewed from here on before its end, as a part of its lifetime: Tokenlane's default. */
const renewedAhead = 0.1
/** The wall clock shows whole milliseconds, and a token has ended as soon as either clock says so. */
const clockGrain = 2

/** What made each token necessary, in the order of the renewals; `undefined` where nothing did. */
export function explain({ renewals, revokedAt }: History, lifetime: number): (Need | undefined)[] {
  return renewals.map(({ askedAt }, index) => {
    const before = renewals[index - 1]
    if (before === undefined) return 'startup'
    const left = before.askedAt + lifetime - askedAt
    if (left <= lifetime * renewedAhead + clockGrain) return 'expiry'
    return revokedAt.some((at) => at >= before.askedAt && at <= askedAt) ? 'revocation' : undefined
  })
}

/**
 * The most requests that an outage may meet: one in the background while the old token lives, then those that
 * calls wait for, with the least pause of 125 ms after the first, doubled each time up to 1 s.
 */
export function mostTries(outage: number): number {
  let tries = 1
  for (let at = 0, pause = 125; at <= outage; at += pause, pause = Math.min(pause * 2, 1_000)) tries += 1
  return tries
}

/** Every token request of one issuer that should not have been, in words; both sides' counts must agree. */
export function needlessRequests(history: History, counts: IssuerCounts, lifetime: number): string[] {
  const { renewals, failures, outages, secretRotations } = history
  const reasons: string[] = []
  for (const [index, need] of explain(history, lifetime).entries()) {
    if (need !== undefined) continue
    const age = Math.round(renewals[index]!.askedAt - renewals[index - 1]!.askedAt)
    reasons.push(
      `token ${index + 1} was requested (${renewals[index]!.reason}) when the previous one was ${age} ms old`,
    )
  }
  const most = outages.reduce((sum, outage) => sum + mostTries(outage), 0)
  if (counts.failed > most)
    reasons.push(`${counts.failed} requests failed in the outage, at most ${most} may`)
  if (counts.refused > secretRotations) reasons.push(`${counts.refused} requests were refused`)
  if (counts.issued !== renewals.length)
    reasons.push(`${counts.issued} tokens were issued, Tokenlane reports ${renewals.length}`)
  if (counts.failed !== failures)
    reasons.push(`${counts.failed} requests failed, Tokenlane reports ${failures}`)
  return reasons
}
