// The files and tables that `node dashboards/write.ts` makes from the instruments, the panels and the alerts.
import { fileURLToPath } from 'node:url'
import { instruments, type Instrument } from '../src/instruments.ts'
import { alerts } from './alerts.ts'
import { grafanaDashboard } from './grafana.ts'
import { prometheusRules } from './rules.ts'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Returns the text that each generated file must hold, by path. */
export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map([
    [at('tokenlane.grafana.json'), `${JSON.stringify(grafanaDashboard(), undefined, 2)}\n`],
    [at('tokenlane.rules.yml'), prometheusRules()],
  ])
}

/** Path of the README. Comments in it mark the places of the tables. */
export const readme: string = at('../README.md')

/** Returns the text of the README with its tables generated anew. */
export function withTables(text: string): string {
  return withTable(withTable(text, 'metrics', metricsTable()), 'alerts', alertsTable())
}

function withTable(text: string, name: string, table: string): string {
  const place = new RegExp(`(<!-- ${name} -->\\n)[^]*?(<!-- /${name} -->)`)
  if (!place.test(text)) throw new Error(`README.md has no place for the table ${name}`)
  return text.replace(place, (_, before: string, after: string) => `${before}\n${table}\n\n${after}`)
}

function metricsTable(): string {
  const lines = Object.entries<Instrument>(instruments).map(
    ([name, { kind, unit, attributes, description, lookAtIt }]) =>
      `| \`${name}\`<br>${kind} in \`${unit}\`<br>${attributes.map((attribute) => `\`${attribute}\``).join('<br>')} | ${description} | ${lookAtIt} |`,
  )
  return [
    '| metric, type and unit, attributes | what it is | look at it when |',
    '| --- | --- | --- |',
    ...lines,
  ].join('\n')
}

function alertsTable(): string {
  const lines = alerts.map(
    ({ name, severity, summary, action }) =>
      `| \`${name}\` | ${severity} | ${summary.replaceAll(/\{\{ \$labels\.tokenlane_(\w+) \}\}/g, '…').replaceAll(/\{\{ \$value \}\}/g, 'N')} | ${action} |`,
  )
  return ['| alert | severity | what it says | what to do |', '| --- | --- | --- | --- |', ...lines].join(
    '\n',
  )
}
