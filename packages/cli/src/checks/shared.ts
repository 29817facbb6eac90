import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'

/** A shared token store or rate limiter that failed while tokens were requested and the call was made. */
export function checkShared({ events }: Facts): Finding[] {
  const found = new Map<string, Finding>()
  for (const event of events) {
    if (event.type === 'store.failed')
      found.set(
        'store',
        finding('store-failed', 'warning', 'token store', {
          seen: `The shared token store fails (${event.reason}).`,
          why: 'Each process asks the issuer for a token of its own.',
          fix: 'Check that this machine reaches the store (Redis), and its password and TLS settings.',
        }),
      )
    if (event.type === 'limiter.failed')
      found.set(
        event.api,
        finding('limiter-failed', 'warning', event.api, {
          seen: `The shared rate budget cannot be reached (${event.reason}).`,
          why: 'Each process keeps to a share of the limit.',
          fix: 'Check that this machine reaches Redis, and the settings of the limiter.',
        }),
      )
  }
  return [...found.values()]
}
