import type { RateLimit } from '@tokenlane/core'

import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'

/** Finds rate policies that differ from the limits that the API names, and a called API without a rate policy. */
export function checkRates({ events, call, configuration }: Facts): Finding[] {
  const differences = events.flatMap((event) =>
    event.type === 'policy.differs'
      ? [
          finding('policy-differs', 'warning', event.api, {
            seen: `The API names ${limitsOf(event.seen)}; the rate policy has ${limitsOf(event.configured)}.`,
            why: 'Calls wait longer than they must, or are refused.',
            fix: `Set \`ratePolicy.limits\` of this API to ${limitsOf(event.seen)}.`,
          }),
        ]
      : [],
  )
  const api = configuration.apis.find(({ baseUrl }) => baseUrl === call?.api)
  if (api === undefined || api.ratePolicy !== undefined || !call?.rateHeaders?.length) return differences
  return [
    finding('policy-missing', 'info', api.baseUrl, {
      seen: `The API sends ${call.rateHeaders.join(', ')}, and has no rate policy here.`,
      why: 'Beyond its limit the API refuses calls.',
      fix: 'Set `ratePolicy` of this API: docs/guide/rate-policy.md.',
    }),
  ]
}

function limitsOf(limits: readonly RateLimit[]): string {
  return limits.map(({ quota, window }) => `${quota} per ${window / 1_000} s`).join(' and ') || 'none'
}
