// The files and lists that `node dashboards/write.ts` makes from the instruments, the panels and the alerts.
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

/** Path of the README. Comments in it mark the places of the lists. */
export const readme: string = at('../README.md')

/** Returns the text of the README with its lists generated again. */
export function withLists(text: string): string {
  return withList(withList(text, 'metrics', metricsList()), 'alerts', alertsList())
}

function withList(text: string, name: string, list: string): string {
  const place = new RegExp(`(<!-- ${name} -->\\n)[^]*?(<!-- /${name} -->)`)
  if (!place.test(text)) throw new Error(`README.md has no place for the list ${name}`)
  return text.replace(place, (_, before: string, after: string) => `${before}\n${list}\n\n${after}`)
}

function metricsList(): string {
  const items = Object.entries<Instrument>(instruments).map(
    ([name, { kind, unit, attributes, description, lookAtIt }]) =>
      `- **\`${name}\`**, ${kind} in \`${unit}\`, by ${attributes.map((attribute) => `\`${attribute}\``).join(', ')}. ${description}\\\n  ${lookAtIt}`,
  )
  return items.join('\n')
}

function alertsList(): string {
  const items = alerts.map(({ name, severity, summary, action, runbook }) => {
    const said = `${summary}. ${action}`
      .replaceAll(/\{\{ \$labels\.\w+ \}\}/g, '…')
      .replaceAll(/\{\{ \$value \}\}/g, 'N')
    // a heading, since an operator may know only the name
    return `### ${name}\n\n**${severity}**: ${said} Runbook: [${runbook.title}](../../docs/guide/${runbook.path}).`
  })
  return items.join('\n\n')
}
