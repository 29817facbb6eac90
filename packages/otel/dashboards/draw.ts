// Draws the dashboard as it looks after a bad day of the sandbox, as docs/images/dashboard.svg.
// Every line is the response of a real Prometheus to the query of a panel, over 2 s instead of 5 min or 1 h.
import { writeFileSync } from 'node:fs'
import { drawChart } from '@tokenlane/charts'
import { haveBadDay } from '../test/support/bad-day.ts'
import { rows, type Panel } from './panels.ts'

const badDay = await haveBadDay()
const start = badDay.startedAt / 1_000
const end = Date.now() / 1_000

const formats: Readonly<Record<Panel['unit'], string>> = {
  s: '.2~r',
  short: '.2~f',
  percentunit: '.0%',
  reqps: '.2~f',
  d: 'd',
}

async function chartOf({ title, unit, queries }: Panel): Promise<object> {
  const values = []
  for (const [legend, promql] of queries)
    for (const { labels, points } of await badDay.prometheus.queryRange(
      promql.replaceAll(/(\[|offset )(?:5m|1h)/g, '$12s').replace('/ 300', '/ 2'),
      { start, end, step: 0.2 },
    ))
      for (const [seconds, value] of points)
        values.push({ time: seconds - start, value, line: filled(legend, labels) })
  return {
    // small, since three charts stand in a row
    title: { text: title.split(', '), fontSize: 12, frame: 'bounds' },
    width: 200,
    height: 120,
    data: { values },
    mark: { type: 'line', strokeWidth: 2 },
    encoding: {
      x: {
        field: 'time',
        type: 'quantitative',
        title: null,
        axis: { format: 'd', labelExpr: "datum.label + ' s'" },
      },
      y: {
        field: 'value',
        type: 'quantitative',
        title: null,
        axis: {
          format: formats[unit],
          minExtent: 40,
          tickCount: 4,
          ...(unit === 's' && { labelExpr: "datum.label + ' s'" }),
        },
      },
      color: {
        field: 'line',
        type: 'nominal',
        legend: { title: null, labelLimit: 260, columns: 1, symbolLimit: 4 },
      },
    },
  }
}

/** Returns a legend with its `{{label}}` places filled, as Grafana does. Base URLs are reduced to their path. */
function filled(legend: string, labels: Readonly<Record<string, string>>): string {
  return legend
    .replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => (labels[name] ?? '').replace(/^https:\/\/[^/]+/, ''))
    .trim()
}

const charts: [panel: Panel, chart: object][] = []
for (const panel of rows.flatMap(({ panels }) => panels)) charts.push([panel, await chartOf(panel)])
await badDay.close()
const label = 'The dashboard of Tokenlane in Grafana, after an outage, a rotation and a rate limit'
await draw(
  'dashboard',
  3,
  charts.map(([, chart]) => chart),
)
// a phone shows what an operator looks at first, one below the other
const first: ReadonlySet<string> = new Set([
  'Issuers with a live token',
  'Token requests by reason',
  'Calls',
  'Wait in the queue, 95th percentile',
  'Quota in use',
])
const chosen: object[] = []
for (const [{ title }, chart] of charts) if (first.has(title)) chosen.push({ ...chart, width: 230 })
await draw('dashboard-narrow', 1, chosen)

async function draw(name: string, columns: number, concat: readonly object[]): Promise<void> {
  const spec = { concat, columns, align: 'each', resolve: { scale: { color: 'independent' } } }
  writeFileSync(
    new URL(`../../../docs/images/${name}.svg`, import.meta.url),
    await drawChart(spec as never, label),
  )
}
