// Long: needs promtool.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { alerts } from '../dashboards/alerts.ts'
import { prometheusRules } from '../dashboards/alerts.ts'

interface Case {
  readonly alert: string
  readonly edge: string
  readonly fires: boolean
  readonly at: string
  /** Series by name and labels, one value a minute, in Prometheus' notation. */
  readonly series: Readonly<Record<string, string>>
}

const issuer = 'tokenlane_issuer="general"'
const api = 'tokenlane_api="https://api.example.com/"'
const requests = (labels: string): string => `tokenlane_token_request_duration_count{${issuer}, ${labels}}`
const failing = requests('tokenlane_reason="ahead", error_type="TOKEN_REQUEST_FAILED"')
const refused = requests('tokenlane_reason="ahead", error_type="TOKEN_REQUEST_REFUSED"')
const live = `tokenlane_token_live{${issuer}}`
/** A series of one process, as Prometheus labels it. */
const of = (instance: string, series: string): string =>
  series.replace('{', `{job="app", instance="${instance}", `)
const length = `tokenlane_queue_length{${api}}`
const storeFails = (reason: string): string => `tokenlane_store_failures_total{error_type="${reason}"}`

/** An alert that fires in the first of two minutes after series began in the second one, and no longer in the other. */
const onceAfter = (
  alert: string,
  edge: string,
  [soon, late]: readonly [number, number],
  series: Case['series'],
): Case[] =>
  [soon, late].map((minute) => ({
    alert,
    edge: `${edge}, in minute ${minute - 2} after it`,
    fires: minute === soon,
    at: `${minute}m`,
    series,
  }))

const cases: readonly Case[] = [
  {
    alert: 'TokenlaneNoLiveToken',
    edge: 'no live token and failing requests',
    fires: true,
    at: '8m',
    series: { [live]: '0x20', [failing]: '0+1x20' },
  },
  {
    alert: 'TokenlaneNoLiveToken',
    edge: 'no live token because no call needs one',
    fires: false,
    at: '8m',
    series: { [live]: '0x20' },
  },
  {
    alert: 'TokenlaneNoLiveToken',
    edge: 'no live token and the first failure, with which its series begins',
    fires: true,
    at: '4m',
    series: { [live]: '0x20', [failing]: '_ _ 1x20' },
  },
  {
    alert: 'TokenlaneNoLiveToken',
    edge: 'no live token and one failure that was more than five minutes ago',
    fires: false,
    at: '9m',
    series: { [live]: '0x20', [failing]: '_ _ 1x20' },
  },
  ...(['a', 'b'] as const).map((instance) => ({
    alert: 'TokenlaneNoLiveToken',
    edge: `no live token in process a, one in process b, and a failure in process ${instance}`,
    fires: instance === 'a',
    at: '4m',
    series: { [of('a', live)]: '0x20', [of('b', live)]: '1x20', [of(instance, failing)]: '_ _ 1x20' },
  })),
  {
    alert: 'TokenlaneRenewalFails',
    edge: 'failing renewals while the token lives',
    fires: true,
    at: '16m',
    series: { [live]: '1x20', [failing]: '0+1x20', [requests('tokenlane_reason="ahead"')]: '5x20' },
  },
  {
    alert: 'TokenlaneRenewalFails',
    edge: 'a failure that is followed by a success',
    fires: false,
    at: '16m',
    series: { [live]: '1x20', [failing]: '0 1x20', [requests('tokenlane_reason="ahead"')]: '5 5 6x20' },
  },
  {
    alert: 'TokenlaneRenewalFails',
    edge: 'the first failure, with which its series begins, and a token of another process',
    fires: true,
    at: '8m',
    series: { [live]: '1x20', [failing]: '_ _ 1x20' },
  },
  {
    alert: 'TokenlaneRenewalFails',
    edge: 'failing renewals of one application, while another one renews its tokens',
    fires: true,
    at: '16m',
    series: {
      [of('a', live)]: '1x20',
      [of('a', failing)]: '0+1x20',
      [of('b', requests('tokenlane_reason="ahead"')).replace('app', 'other')]: '0+1x20',
    },
  },
  {
    alert: 'TokenlaneRenewalFails',
    edge: 'a failure that is followed by the first success',
    fires: false,
    at: '8m',
    series: { [live]: '1x20', [failing]: '0 1x20', [requests('tokenlane_reason="ahead"')]: '_ _ 1x20' },
  },
  ...onceAfter('TokenlaneClientRefused', 'the first refusal, with which its series begins', [4, 9], {
    [refused]: '_ _ 1x10',
  }),
  {
    alert: 'TokenlaneClientRefused',
    edge: 'one refusal',
    fires: true,
    at: '4m',
    series: { [refused]: '0 0 1x10' },
  },
  {
    alert: 'TokenlaneClientRefused',
    edge: 'one refusal, in a minute in which this process and another one renewed their tokens',
    fires: true,
    at: '2m',
    series: {
      [of('a', refused)]: '_ _ 1x10',
      [of('a', requests('tokenlane_reason="ahead"'))]: '1 2x10',
      [of('b', requests('tokenlane_reason="ahead"'))]: '1 1 2x10',
    },
  },
  {
    alert: 'TokenlaneClientRefused',
    edge: 'a refusal that was more than five minutes ago',
    fires: false,
    at: '9m',
    series: { [refused]: '0 0 1x10' },
  },
  ...([5, 6, 10, 11] as const).map((days) => ({
    alert: 'TokenlaneSecretExpiresIn10Days',
    edge: `${days} days left`,
    fires: days === 6 || days === 10,
    at: '1m',
    series: { [`tokenlane_secret_days_left{${issuer}}`]: `${days}x5` },
  })),
  ...([5, 6] as const).map((days) => ({
    alert: 'TokenlaneSecretExpiresIn5Days',
    edge: `${days} days left, by the name that the Collector gives`,
    fires: days === 5,
    at: '1m',
    series: { [`tokenlane_secret_days_left_days{${issuer}}`]: `${days}x5` },
  })),
  ...([7, 5] as const).map((seconds) => ({
    alert: 'TokenlaneApiPaused',
    edge: `paused for ${seconds} s a minute`,
    fires: seconds === 7,
    at: '40m',
    series: { [`tokenlane_api_pause_duration_sum{${api}}`]: `0+${seconds}x60` },
  })),
  {
    alert: 'TokenlaneQueueDoesNotDrain',
    edge: 'a queue that grows for half an hour',
    fires: true,
    at: '45m',
    series: { [length]: '1+5x60' },
  },
  {
    alert: 'TokenlaneQueueDoesNotDrain',
    edge: 'a queue that shrinks',
    fires: false,
    at: '45m',
    series: { [length]: '400-5x60' },
  },
  ...([1, 0] as const).map((value) => ({
    alert: 'TokenlaneApiRefusesTokens',
    edge: value === 1 ? 'a process whose tokens are refused' : 'no process whose tokens are refused',
    fires: value === 1,
    at: '3m',
    series: { [`tokenlane_api_refuses_tokens{${api}}`]: `${value}x10` },
  })),
  ...([1, 0] as const).map((each) => ({
    alert: 'TokenlaneTokensRejected',
    edge: each === 1 ? 'one rejected token a minute' : 'no further rejected token',
    fires: each === 1,
    at: '16m',
    series: { [requests('tokenlane_reason="rejected"')]: `3+${each}x20` },
  })),
  ...([6, 5] as const).map((first) => ({
    alert: 'TokenlaneTokensRejected',
    edge: `${first} rejected tokens, with which their series begins`,
    fires: first === 6,
    at: '4m',
    series: { [requests('tokenlane_reason="rejected"')]: `_ _ ${first}x20` },
  })),
  ...([1, 0] as const).map((value) => ({
    alert: 'TokenlaneFallback',
    edge: value === 1 ? 'a process on its own share' : 'no process on its own share',
    fires: value === 1,
    at: '6m',
    series: { [`tokenlane_limiter_fallback{${api}}`]: `${value}x10` },
  })),
  ...onceAfter(
    'TokenlaneStoreFails',
    'the first failure of two processes, with which their series begin',
    [4, 63],
    {
      [of('a', storeFails('ECONNREFUSED'))]: '_ _ 1x70',
      [of('b', storeFails('timeout'))]: '_ _ 1x70',
    },
  ),
  {
    alert: 'TokenlaneStoreFails',
    edge: 'one failure, with which its series begins',
    fires: false,
    at: '4m',
    series: { [storeFails('timeout')]: '_ _ 1x70' },
  },
  ...([2, 1] as const).map((more) => ({
    alert: 'TokenlaneStoreFails',
    edge: `${more} more of a process whose store failed hours ago`,
    fires: more === 2,
    at: '130m',
    series: { [storeFails('timeout')]: `3x120 ${3 + more}x20` },
  })),
]

function promtool(command: readonly string[], files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'promtool-'))
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const { stdout, stderr, error } = spawnSync('promtool', command, { cwd: folder, encoding: 'utf8' })
    if (error) throw new Error('This test needs promtool: Debian has it in `prometheus`', { cause: error })
    return stdout + stderr
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('Prometheus accepts the rules', () => {
  const files = { 'rules.yml': prometheusRules() }
  expect(promtool(['check', 'rules', 'rules.yml'], files)).toContain(`${alerts.length} rules found`)
})

test.each(cases)('$alert, $edge: fires: $fires', ({ alert, fires, at, series }) => {
  const tests = stringify({
    rule_files: ['rules.yml'],
    tests: [
      {
        interval: '1m',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts: [] }],
      },
    ],
  })
  const output = promtool(['test', 'rules', 'test.yml'], {
    'rules.yml': prometheusRules(),
    'test.yml': tests,
  })
  // promtool is told to expect no alert: one that fires makes it fail, and show what it got
  const fired = new RegExp(`FAILED:[^]*alertname: ${alert}[^]*got:\\[[^\\]]*Labels`).test(output)
  expect([fired, output.includes('SUCCESS')]).toEqual([fires, !fires])
})

test('every alert has a case on each side of its edge', () => {
  for (const { name } of alerts)
    expect(new Set(cases.filter(({ alert }) => alert === name).map(({ fires }) => fires))).toEqual(
      new Set([true, false]),
    )
})
