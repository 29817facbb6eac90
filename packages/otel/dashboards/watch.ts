// Runs the sandbox's bad day under a real Prometheus, and keeps Prometheus until Ctrl-C: `node packages/otel/dashboards/watch.ts`
import { haveBadDay } from '../test/support/bad-day.ts'
import { rows } from './panels.ts'

console.log(
  'A sandbox, four clients and a Prometheus: a rotation, an outage, a revocation, a rate limit. 10 to 20 s …',
)
const badDay = await haveBadDay()
const { origin } = badDay.prometheus

console.log(`\nPrometheus: ${origin}, until Ctrl-C. Each link draws a panel of the dashboard:\n`)
for (const { title, queries } of rows.flatMap(({ panels }) => panels)) {
  const [[, promql]] = queries as [readonly [string, string]]
  const graph = new URLSearchParams({ 'g0.expr': promql, 'g0.tab': '0', 'g0.range_input': '1m' })
  console.log(`${title}\n  ${origin}/graph?${graph}`)
}
console.log(
  `\nIn Grafana: add ${origin} as a Prometheus data source, and import packages/otel/dashboards/tokenlane.grafana.json.`,
)
const alive = setInterval(() => {}, 60_000)
process.once('SIGINT', () => {
  clearInterval(alive)
  void badDay.close()
})
