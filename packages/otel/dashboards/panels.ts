// The panels of the dashboard and their Prometheus queries. A test runs every query and expects data.
import { growth, metric, quantile } from './promql.ts'

export interface Panel {
  readonly title: string
  /** What the values mean for an operator. */
  readonly description: string
  readonly unit: 's' | 'short' | 'percentunit' | 'reqps' | 'd'
  /** Several lines in one panel: legend and query. */
  readonly queries: readonly (readonly [legend: string, query: string])[]
}

export interface Row {
  readonly title: string
  readonly panels: readonly Panel[]
}

const issuer = '{{tokenlane_issuer}}'
const api = '{{tokenlane_api}}'

export const rows: readonly Row[] = [
  {
    title: 'Tokens',
    panels: [
      {
        title: 'Issuers with a live token',
        description: '0: a process has no live token. Its calls fail only if its token requests do.',
        unit: 'short',
        queries: [[issuer, `min by (tokenlane_issuer) (${metric('tokenlane.token.live')})`]],
      },
      {
        title: 'Token requests by reason',
        description:
          '`rejected`: an API refuses tokens. `expired`: calls waited. `ahead` (in the background) is normal.',
        unit: 'reqps',
        queries: [
          [
            `${issuer} {{tokenlane_reason}} {{error_type}}`,
            `sum by (tokenlane_issuer, tokenlane_reason, error_type) (${growth(metric('tokenlane.token.request.duration', '', 'count'), '5m')}) / 300`,
          ],
        ],
      },
      {
        title: 'Token request, 95th percentile',
        description: 'High: the issuer is slow. This only delays calls without a live token.',
        unit: 's',
        queries: [[issuer, quantile(0.95, 'tokenlane.token.request.duration', 'tokenlane_issuer')]],
      },
      {
        title: 'Remaining lifetime at use, 5th percentile',
        description: 'Near 0: tokens are renewed too late.',
        unit: 's',
        queries: [[issuer, quantile(0.05, 'tokenlane.token.remaining_lifetime', 'tokenlane_issuer')]],
      },
      {
        title: 'Token requests saved by sharing',
        description: "Calls that waited for another call's token request instead of making their own.",
        unit: 'reqps',
        queries: [
          [issuer, `sum by (tokenlane_issuer) (${growth(metric('tokenlane.token.joiners'), '5m')}) / 300`],
        ],
      },
      {
        title: 'Days until the secret must be rotated',
        description: 'Under 10: plan it. Under 5: do it now.',
        unit: 'd',
        queries: [[issuer, `min by (tokenlane_issuer) (${metric('tokenlane.secret.days_left')})`]],
      },
    ],
  },
  {
    title: 'Calls',
    panels: [
      {
        title: 'Calls',
        description: 'Calls that ended, by API and outcome; without an error type they succeeded.',
        unit: 'reqps',
        queries: [
          [
            `${api} {{error_type}}`,
            `sum by (tokenlane_api, error_type) (rate(${metric('tokenlane.calls')}[5m]))`,
          ],
        ],
      },
      {
        title: 'Sent again, by reason',
        description: '`rejected` without a revocation: one node of the API refuses tokens. `limited`: 429.',
        unit: 'reqps',
        queries: [
          [
            `${api} {{tokenlane_reason}}`,
            `sum by (tokenlane_api, tokenlane_reason) (${growth(metric('tokenlane.call.resends'), '5m')}) / 300`,
          ],
        ],
      },
    ],
  },
  {
    title: 'Queues',
    panels: [
      {
        title: 'Queued calls',
        description: 'Growing steadily: more calls arrive than the rate policy allows.',
        unit: 'short',
        queries: [[api, `sum by (tokenlane_api) (${metric('tokenlane.queue.length')})`]],
      },
      {
        title: 'Calls under way',
        description: 'At `concurrency` for a long time: the API is slow.',
        unit: 'short',
        queries: [[api, `sum by (tokenlane_api) (${metric('tokenlane.queue.running')})`]],
      },
      {
        title: 'Wait in the queue, 95th percentile',
        description: 'How much the rate policy delays a call.',
        unit: 's',
        queries: [[api, quantile(0.95, 'tokenlane.queue.wait.duration', 'tokenlane_api')]],
      },
      {
        title: 'Quota in use',
        description: 'Of the fullest limit. At 100 %: the quota is what calls wait for.',
        unit: 'percentunit',
        queries: [[api, `max by (tokenlane_api) (${metric('tokenlane.quota.used')})`]],
      },
      {
        title: 'Share of the time that APIs are paused',
        description:
          'Any: the API refused calls because of its rate limit, or reported that no calls remain.',
        unit: 'percentunit',
        queries: [
          [
            api,
            `sum by (tokenlane_api) (${growth(metric('tokenlane.api.pause.duration', '', 'sum'), '5m')}) / 300`,
          ],
        ],
      },
    ],
  },
  {
    title: 'Shared by several processes',
    panels: [
      {
        title: 'Failures of token store and rate budget',
        description: 'Redis is down or slow for these processes; calls continue, but more slowly.',
        unit: 'short',
        queries: [
          [
            'token store {{error_type}}',
            `sum by (error_type) (${growth(metric('tokenlane.store.failures'), '1h')})`,
          ],
          [
            `rate budget ${api}`,
            `sum by (tokenlane_api) (${growth(metric('tokenlane.limiter.failures'), '1h')})`,
          ],
        ],
      },
      {
        title: 'Processes on their own share',
        description: 'How many cannot reach the shared rate budget now.',
        unit: 'short',
        queries: [[api, `sum by (tokenlane_api) (${metric('tokenlane.limiter.fallback')})`]],
      },
    ],
  },
]
