// Long: needs Prometheus.
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { alerts } from '../dashboards/alerts.ts'
import { rows } from '../dashboards/panels.ts'
import { haveBadDay, type BadDay } from './support/bad-day.ts'

let badDay: BadDay
beforeAll(async () => {
  badDay = await haveBadDay()
})
afterAll(() => badDay.close())

/** The series that Prometheus answers now. */
const query = (promql: string): ReturnType<BadDay['prometheus']['query']> => badDay.prometheus.query(promql)

/** Prometheus answers `promql` with one value; it has seen the last second of the run. */
const answer = (promql: string): Promise<number> =>
  vi.waitFor(async () => {
    const [sample] = await query(promql)
    expect(sample, promql).toBeDefined()
    return sample?.value as number
  })

const ruleOf = (alert: string): string => alerts.find(({ name }) => name === alert)?.expr ?? ''

test('the outage: renewals of the weblink issuer failed, and others succeeded', async () => {
  const requests = 'sum(tokenlane_token_request_duration_count{tokenlane_issuer="weblink"'
  expect(await answer(`${requests}, error_type="TOKEN_REQUEST_FAILED"})`)).toBeGreaterThan(0)
  expect(await answer(`${requests}, error_type=""})`)).toBeGreaterThan(1)
  expect(
    await answer('min_over_time(min(tokenlane_token_live{tokenlane_issuer="weblink"})[30s:200ms])'),
  ).toBe(0)
  expect(await answer('max_over_time(tokenlane_token_live{tokenlane_issuer="weblink"}[30s:200ms])')).toBe(1)
})

test('the outage is an alert', async () => {
  expect(await answer(`count_over_time((${ruleOf('TokenlaneNoLiveToken')})[30s:200ms])`)).toBeGreaterThan(0)
})

test.each(
  alerts.flatMap(({ name, action }) =>
    Array.from(action.matchAll(/`(sum by .+?)`/g), ([, promql = '']) => ({ name, promql })),
  ),
)('the query in $name shows the error: $promql', async ({ promql }) => {
  await vi.waitFor(async () => {
    const labels: Record<string, string> = { job: 'application', tokenlane_issuer: 'weblink' }
    const [series] = await query(
      promql.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name) => labels[name] ?? ''),
    )
    expect(series?.labels['error_type']).toMatch(/^\w+$/)
  })
})

test('the rotation: the issuer refused the old secret, no call failed for it, and it is no alert', async () => {
  expect(badDay.counts.issuers.general.refused).toBeGreaterThan(0)
  expect(await query('tokenlane_calls_total{error_type=~"[A-Z_]+"}')).toEqual([])
  expect(await query(ruleOf('TokenlaneClientRefused'))).toEqual([])
})

test('the revocation: calls were sent again with a new token', async () => {
  expect(await answer('sum(tokenlane_call_resends_total{tokenlane_reason="rejected"})')).toBeGreaterThan(0)
})

test('the rate limit: the API paused, and calls were sent again', async () => {
  expect(await answer('sum(tokenlane_call_resends_total{tokenlane_reason="limited"})')).toBeGreaterThan(0)
  expect(await answer('sum(tokenlane_api_pause_duration_sum)')).toBeGreaterThan(0)
  expect(await answer('max_over_time(max(tokenlane_queue_length)[30s:200ms])')).toBeGreaterThan(0)
})

test('the secret: five days are left', async () => {
  expect(await answer('tokenlane_secret_days_left')).toBe(5)
})

test('each call is counted once, as the APIs counted those that they answered', async () => {
  const { apis } = badDay.counts
  const sent = apis.general.calls + apis.weblink.calls
  await vi.waitFor(async () => {
    const [{ value: calls } = { value: 0 }] = await query('sum(tokenlane_calls_total)')
    const [{ value: resends } = { value: 0 }] = await query('sum(tokenlane_call_resends_total)')
    expect(calls + resends).toBe(sent)
  })
  expect(
    new Set((await query('tokenlane_calls_total')).map(({ labels }) => labels['tokenlane_client'])),
  ).toEqual(new Set(['axios', 'fetch', 'got', 'ky']))
})

test.each(
  rows.flatMap(({ panels }) =>
    panels.flatMap(({ title, queries }) => queries.map(([, promql]) => ({ title, promql }))),
  ),
)('the panel "$title" has data: $promql', async ({ promql }) => {
  await vi.waitFor(async () => {
    const values = (await query(promql)).map(({ value }) => value)
    expect(values.filter((value) => !Number.isNaN(value))).not.toEqual([])
  })
})

test('no label has more values than what is configured has names, whatever the number of calls', async () => {
  const series = await query('{__name__=~"tokenlane_.+", __name__!~".+_(bucket|sum)"}')
  const values = new Map<string, Set<string>>()
  for (const { labels } of series)
    for (const [label, value] of Object.entries(labels))
      if (label !== '__name__') values.set(label, (values.get(label) ?? new Set()).add(value))
  const [{ value: calls } = { value: 0 }] = await query('sum(tokenlane_calls_total)')
  expect(calls).toBeGreaterThan(100)
  expect(values.size).toBeGreaterThan(4)
  for (const [label, { size }] of values) expect(size, label).toBeLessThan(12)
})
