// The alerts. Each rule is tested with `promtool test rules`, just below and just above its threshold.
import { stringify } from 'yaml'

import { growth, metric } from './promql.ts'

export interface Alert {
  readonly name: string
  /** `page`: calls fail, or will fail today. `ticket`: an operator should look at it in working hours. */
  readonly severity: 'page' | 'ticket'
  readonly expr: string
  readonly for: string
  readonly summary: string
  /** What the operator should do first. */
  readonly action: string
  /** What says more: core's troubleshooting page, which every application has, with the section. */
  readonly runbook: Runbook
}

type Runbook = `troubleshoot.md${string}`

const errorCodes: Runbook = 'troubleshoot.md'
const section = (title: string): Runbook => `troubleshoot.md#${title.toLowerCase().replaceAll(' ', '-')}`

const requests = (labels: string): string => metric('tokenlane.token.request.duration', labels, 'count')

/** What an operator types into Prometheus. */
const byError = (series: string): string => `\`sum by (error_type) (${series})\``
const requestErrors = `In the runbook, look up the error_type whose count grows in ${byError(requests('job="{{ $labels.job }}", tokenlane_issuer="{{ $labels.tokenlane_issuer }}", error_type!=""'))}.`

export const alerts: readonly Alert[] = [
  {
    name: 'TokenlaneNoLiveToken',
    severity: 'page',
    // both of the same process, since one without calls has no live token either
    expr: `min by (job, tokenlane_issuer) (${metric('tokenlane.token.live')} == 0 and sum without (tokenlane_reason, error_type) (${growth(requests('error_type!=""'), '5m')}) > 0)`,
    for: '1m',
    summary: 'Issuer {{ $labels.tokenlane_issuer }} issues no tokens to {{ $labels.job }}: calls fail',
    action: requestErrors,
    runbook: errorCodes,
  },
  {
    name: 'TokenlaneRenewalFails',
    severity: 'ticket',
    expr: `sum by (job, tokenlane_issuer) (${growth(requests('error_type!=""'), '10m')}) > 0 unless on (job, tokenlane_issuer) sum by (job, tokenlane_issuer) (${growth(requests('error_type=""'), '10m')}) > 0 and on (job, tokenlane_issuer) max by (job, tokenlane_issuer) (${metric('tokenlane.token.live')}) == 1`,
    for: '5m',
    summary:
      'Issuer {{ $labels.tokenlane_issuer }} issues no new tokens to {{ $labels.job }}; calls still use the old one',
    action: `Calls work until the token expires. ${requestErrors}`,
    runbook: errorCodes,
  },
  {
    name: 'TokenlaneClientRefused',
    severity: 'page',
    expr: `sum by (job, tokenlane_issuer) (${growth(requests('error_type="TOKEN_REQUEST_REFUSED"'), '5m')}) > 0`,
    for: '0m',
    summary: 'Issuer {{ $labels.tokenlane_issuer }} refuses the client that {{ $labels.job }} uses',
    action: "Most often, the secret is wrong or was rotated. The log shows the issuer's own error message.",
    runbook: section('TOKEN_REQUEST_REFUSED'),
  },
  {
    name: 'TokenlaneSecretExpiresIn10Days',
    severity: 'ticket',
    // the page below replaces it
    expr: `min by (job, tokenlane_issuer) (${metric('tokenlane.secret.days_left')}) <= 10 > 5`,
    for: '0m',
    summary:
      "{{ $labels.job }}'s secret for issuer {{ $labels.tokenlane_issuer }} has {{ $value }} days left",
    action: "Rotate it at the issuer, or ask the issuer's support to do so.",
    runbook: section('The secret expires soon'),
  },
  {
    name: 'TokenlaneSecretExpiresIn5Days',
    severity: 'page',
    expr: `min by (job, tokenlane_issuer) (${metric('tokenlane.secret.days_left')}) <= 5`,
    for: '0m',
    summary:
      "{{ $labels.job }}'s secret for issuer {{ $labels.tokenlane_issuer }} has {{ $value }} days left",
    action: 'Rotate it now: once the secret expires, every call fails.',
    runbook: section('The secret expires soon'),
  },
  {
    name: 'TokenlaneApiPaused',
    severity: 'ticket',
    expr: `sum by (job, tokenlane_api) (${growth(metric('tokenlane.api.pause.duration', '', 'sum'), '15m')}) > 90`,
    for: '15m',
    summary:
      'Calls from {{ $labels.job }} to {{ $labels.tokenlane_api }} are paused too often because of the rate limit',
    action:
      'Compare the configured policy with what the API allows, and check whether anything else uses the same quota.',
    runbook: section('A call gets a 429'),
  },
  {
    name: 'TokenlaneQueueDoesNotDrain',
    severity: 'ticket',
    expr: `min_over_time(sum by (job, tokenlane_api) (${metric('tokenlane.queue.length')})[15m:1m]) > 0 and deriv(sum by (job, tokenlane_api) (${metric('tokenlane.queue.length')})[15m:1m]) > 0`,
    for: '15m',
    summary: '{{ $labels.job }} makes more calls to {{ $labels.tokenlane_api }} than can be sent',
    action:
      'The runbook tells you how to find out what they wait for. If it is the quota, make fewer calls, get a higher quota, or set `maxQueued` and `maxWait` so that callers get an error early.',
    runbook: section('Calls are slow'),
  },
  {
    name: 'TokenlaneApiRefusesTokens',
    severity: 'page',
    expr: `max by (job, tokenlane_api) (${metric('tokenlane.api.refuses_tokens')}) == 1`,
    for: '1m',
    summary:
      'API {{ $labels.tokenlane_api }} refuses every token that {{ $labels.job }} sends, so calls get a 401',
    action: "Check the API's issuer, scope and audience, and whether this client is allowed to call it.",
    runbook: section('When an API refuses every token'),
  },
  {
    name: 'TokenlaneTokensRejected',
    severity: 'ticket',
    expr: `sum by (job, tokenlane_issuer) (${growth(requests('tokenlane_reason="rejected"'), '15m')}) > 5`,
    for: '0m',
    summary:
      'APIs keep refusing the tokens that {{ $labels.job }} gets from issuer {{ $labels.tokenlane_issuer }}',
    action:
      "Either the issuer, its scope or its audience is wrong for the API, or something revokes tokens, or one of the API's nodes refuses them, or the API's clock is wrong.",
    runbook: section('When an API refuses every token'),
  },
  {
    name: 'TokenlaneFallback',
    severity: 'ticket',
    expr: `sum by (job, tokenlane_api) (${metric('tokenlane.limiter.fallback')}) > 0`,
    for: '5m',
    summary:
      '{{ $value }} processes of {{ $labels.job }} cannot reach the shared rate budget for {{ $labels.tokenlane_api }}',
    action:
      'Check whether Redis is up, and reachable from these processes. Calls continue, but each process uses only its own share of the quota.',
    runbook: section('Redis is down'),
  },
  {
    name: 'TokenlaneStoreFails',
    severity: 'ticket',
    // once for each process and outage, so it ends after an hour; a single failure may be one slow response
    expr: `sum by (job) (${growth(metric('tokenlane.store.failures'), '1h')}) >= 2`,
    for: '0m',
    summary: 'The token store of {{ $labels.job }} is failing: each process requests its own tokens',
    action: `Check whether Redis is up, writable, and reachable from these processes. The log and ${byError(metric('tokenlane.store.failures'))} show the reason. Calls continue.`,
    runbook: section('Redis is down'),
  },
]

// The alerts as a Prometheus rule file.
/** Returns the rules as Prometheus reads them. */
export function prometheusRules(): string {
  const rules = alerts.map(({ name, expr, for: span, severity, summary, action, runbook }) => ({
    alert: name,
    expr,
    for: span,
    labels: { severity },
    annotations: { summary, action, runbook: `node_modules/@tokenlane/core/${runbook}` },
  }))
  return stringify({ groups: [{ name: 'tokenlane', rules }] }, { lineWidth: 0 })
}
