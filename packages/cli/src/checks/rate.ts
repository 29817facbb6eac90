import type { RateLimit } from '@tokenlane/core'

import { finding, type Finding, guide } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'

/**
 * Finds rate policies that differ from the limits that the API names or keeps, those that leave much of a quota, and a called
 * API without a rate policy.
 */
export function checkRates({ events, call, configuration, status }: Facts): Finding[] {
  const named = events.flatMap((event) =>
    event.type === 'policy.differs'
      ? [
          finding('policy-differs', 'warning', event.api, {
            seen: `The API's headers report ${limitsOf(event.seen)}; the rate policy has ${limitsOf(event.configured)}.`,
            why: 'Calls wait longer than necessary, or are refused.',
            fix: `Set this API's \`ratePolicy.limits\` to ${limitsOf(event.seen)}.`,
          }),
        ]
      : [],
  )
  const kept = status.apis.flatMap(({ baseUrl, allows }) => {
    const limits = configuration.apis.find((one) => one.baseUrl === baseUrl)?.ratePolicy?.limits
    if (allows === undefined || limits === undefined || named.some(({ subject }) => subject === baseUrl))
      return []
    return [
      finding('policy-differs', 'warning', baseUrl, {
        seen: `Either the API allows only about ${limitsOf(allows)} (\`ratePolicy\`: ${limitsOf(limits)}), or something else is using the quota.`,
        why: 'It refused calls. They are sent again after a pause, and at a slower pace.',
        fix: `Set this API's \`ratePolicy.limits\` to what its operator allows, and share the quota between all processes: ${guide}/fleet.md.`,
      }),
    ]
  })
  const slow = status.apis.flatMap(({ baseUrl, slowed }) =>
    slowed === undefined
      ? []
      : [
          finding('policy-slow', 'info', baseUrl, {
            seen: `Waiting calls get only ${slowed.share} of the quota.`,
            why: 'Responses are slow, and a strict policy holds each unit until its request has certainly arrived.',
            fix: `Set \`${slowed.option}\` in this API's \`ratePolicy\`: ${guide}/rate-policy.md.`,
          }),
        ],
  )
  const differences = [...named, ...kept, ...slow]
  const api = configuration.apis.find(({ baseUrl }) => baseUrl === call?.api)
  if (api === undefined || api.ratePolicy !== undefined || !call?.rateHeaders?.length) return differences
  return [
    finding('policy-missing', 'info', api.baseUrl, {
      seen: `The API sends rate limit headers (${call.rateHeaders.join(', ')}), but has no \`ratePolicy\` in the options.`,
      why: 'Beyond its limit, the API refuses calls.',
      fix: `Set this API's \`ratePolicy\`: ${guide}/rate-policy.md.`,
    }),
  ]
}

function limitsOf(limits: readonly RateLimit[]): string {
  return limits.map(({ quota, window }) => `${quota} per ${window / 1_000} s`).join(' and ') || 'none'
}
