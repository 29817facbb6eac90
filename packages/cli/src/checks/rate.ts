import type { Limit } from '@tokenlane/core'

import { type Check, row, table, together } from './finding.ts'
import { guide } from '../guide.ts'
import type { Facts } from '../facts/facts.ts'

type Limits = readonly Limit[]

const checkPolicies: Check = table({
  cases(facts): { api: string; limits: Limits; seen: Limits; isNamed: boolean }[] {
    const named = facts.events.flatMap((event) =>
      event.type === 'policy.differs'
        ? [{ api: event.api, limits: event.configured, seen: event.seen, isNamed: true }]
        : [],
    )
    const kept = facts.status.apis.flatMap(({ baseUrl: api, allows: seen }) => {
      const limits = policyOf(api, facts)?.limits
      if (seen === undefined || limits === undefined || named.some((one) => one.api === api)) return []
      return [{ api, limits, seen, isNamed: false }]
    })
    return [...named, ...kept]
  },
  severity: 'warning',
  subject: ({ api }) => api,
  rows: [
    {
      id: 'policy-differs',
      when: ({ isNamed }) => isNamed,
      seen: ({ limits, seen }) =>
        `The API's headers report ${limitsOf(seen)}; the rate policy has ${limitsOf(limits)}.`,
      why: 'Calls wait longer than necessary, or are refused.',
      fix: ({ seen }) => `Set this API's \`ratePolicy.limits\` to ${limitsOf(seen)}.`,
    },
    {
      id: 'policy-differs',
      seen: ({ limits, seen }) =>
        `Either the API allows only about ${limitsOf(seen)} (\`ratePolicy\`: ${limitsOf(limits)}), or something else is using the quota.`,
      why: 'It refused calls. They are sent again after a pause, and at a slower pace.',
      fix: `Set this API's \`ratePolicy.limits\` to what its operator allows, and share the quota between all processes: ${guide}/fleet.md.`,
    },
  ],
})

const checkSlowed: Check = row({
  cases: ({ status }) =>
    status.apis.flatMap(({ baseUrl, slowed }) => (slowed === undefined ? [] : [{ baseUrl, ...slowed }])),
  severity: 'info',
  subject: ({ baseUrl }) => baseUrl,
  id: 'policy-slow',
  seen: ({ share }) => `Waiting calls get only ${share} of the quota.`,
  why: 'Responses are slow, and a strict policy holds each unit until its request has certainly arrived.',
  fix: ({ option }) => `Set \`${option}\` in this API's \`ratePolicy\`: ${guide}/rate-policy.md.`,
})

const checkMissingPolicy: Check = row({
  cases({ call, configuration }) {
    const api = configuration.apis.find(({ baseUrl }) => baseUrl === call?.api)
    const headers = call?.rateHeaders ?? []
    return api === undefined || api.ratePolicy !== undefined || headers.length === 0
      ? []
      : [{ baseUrl: api.baseUrl, headers }]
  },
  severity: 'info',
  subject: ({ baseUrl }) => baseUrl,
  id: 'policy-missing',
  seen: ({ headers }) =>
    `The API sends rate limit headers (${headers.join(', ')}), but has no \`ratePolicy\` in the options.`,
  why: 'Beyond its limit, the API refuses calls.',
  fix: `Set this API's \`ratePolicy\`: ${guide}/rate-policy.md.`,
})

export const checkRates: Check = together(checkPolicies, checkSlowed, checkMissingPolicy)

function policyOf(api: string, { configuration }: Facts): { readonly limits: Limits } | undefined {
  return configuration.apis.find(({ baseUrl }) => baseUrl === api)?.ratePolicy
}

function spanOf(window: Limit['window']): string {
  return typeof window === 'number' ? `${window / 1_000} s` : window
}

function limitsOf(limits: Limits): string {
  return limits.map((limit) => limitOf(limit)).join(' and ') || 'none'
}

function limitOf({ quota, window, name, match }: Limit): string {
  const which = name ?? (match === undefined ? '' : [match].flat().join(', '))
  return `${quota} per ${spanOf(window)}${which && ` (${which})`}`
}
