import type { RenewalReason, TokenlaneEvent } from '@tokenlane/core'

import type { Tone } from './progress.ts'

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
export function inWords(event: TokenlaneEvent): { text: string; tone: Tone } | undefined {
  if (event.type === 'token.renewed') {
    const { issuer, reason, joiners } = event
    const duration = `${Math.round(event.duration)} ms`
    return { text: `${issuer}: ${kinds[reason]} in ${duration}, ${waiting(joiners)} waited`, tone: 'green' }
  }
  if (event.type === 'token.rejected')
    return { text: `${event.issuer}: the API refused the token (401)`, tone: 'red' }
  if (event.type === 'renewal.failed') {
    const retryIn = `${Math.round(event.retryIn)} ms`
    return { text: `${event.issuer}: no new token (${event.code}), next try in ${retryIn}`, tone: 'red' }
  }
  if (event.type === 'credentials.rotated')
    return { text: `${event.issuer}: the new secret is in use`, tone: 'green' }
  return undefined
}

const kinds: Record<RenewalReason, string> = {
  startup: 'first token',
  ahead: 'new token before the old one ended,',
  expired: 'new token after the old one ended,',
  rejected: 'new token after a 401,',
}

function waiting(calls: number): string {
  if (calls === 0) return 'no call'
  return calls === 1 ? '1 call' : `${calls} calls`
}
