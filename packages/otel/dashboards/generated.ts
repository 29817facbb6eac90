// The files and the list that `node dashboards/write.ts` makes from the instruments, the panels and the alerts.
import { fileURLToPath } from 'node:url'
import { instruments, type Instrument } from '../src/instruments.ts'
import { grafanaDashboard } from './grafana.ts'
import { prometheusRules } from './alerts.ts'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Returns the text that each generated file must hold, by path. */
export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map([
    [at('tokenlane.grafana.json'), `${JSON.stringify(grafanaDashboard(), undefined, 2)}\n`],
    [at('tokenlane.rules.yml'), prometheusRules()],
  ])
}

/** Path of the README. Comments in it mark the place of the list. */
export const readme: string = at('../README.md')

/** Returns the text of the README with its list generated again. */
export function withList(text: string): string {
  const place = /(<!-- metrics -->\n)[^]*?(<!-- \/metrics -->)/
  if (!place.test(text)) throw new Error('README.md has no place for the list of metrics')
  return text.replace(place, (_, before: string, after: string) => `${before}\n${metricsList()}\n\n${after}`)
}

function metricsList(): string {
  const items = Object.entries<Instrument>(instruments).map(
    ([name, { kind, unit, attributes, description, lookAtIt }]) =>
      `- **\`${name}\`**, ${kind} in \`${unit}\`, by ${attributes.map((attribute) => `\`${attribute}\``).join(', ')}. ${description}\\\n  ${lookAtIt}`,
  )
  return items.join('\n')
}
