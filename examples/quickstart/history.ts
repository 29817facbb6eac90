import type { RenewalReason, TokenlaneEvent } from '@tokenlane/core'

/** What befell one issuer, and which tokens were asked for. Times are in milliseconds, on the monotonic clock. */
export interface History {
  /** Token requests that succeeded, in their order. */
  renewals: { askedAt: number; reason: RenewalReason }[]
  /** Token requests that failed, as Tokenlane reported it. */
  failures: number
  revokedAt: number[]
  secretRotations: number
  /** How long each outage lasted. */
  outages: number[]
}

export const createHistory = (): History => ({
  renewals: [],
  failures: 0,
  revokedAt: [],
  secretRotations: 0,
  outages: [],
})

/** Takes down what Tokenlane reports about an issuer's token requests. */
export function takeDown(history: History, event: TokenlaneEvent): void {
  if (event.type === 'token.renewed')
    history.renewals.push({ askedAt: performance.now() - event.duration, reason: event.reason })
  if (event.type === 'renewal.failed') history.failures += 1
}

/** Returns an event as a line for the terminal, `undefined` if it is not worth a line. */
export function inWords(event: TokenlaneEvent): string | undefined {
  if (event.type === 'token.renewed') {
    const duration = Math.round(event.duration)
    return `${event.issuer}: new token (${event.reason}) after ${duration} ms, ${waiting(event.joiners)} waited`
  }
  if (event.type === 'token.rejected') return `${event.issuer}: the API refused the token`
  if (event.type === 'renewal.failed')
    return `${event.issuer}: no token (${event.code}), next try in ${Math.round(event.retryIn)} ms`
  if (event.type === 'credentials.rotated') return `${event.issuer}: the new secret is in use`
  return undefined
}

function waiting(calls: number): string {
  if (calls === 0) return 'no call'
  return calls === 1 ? '1 call' : `${calls} calls`
}
