// The alerts as a Prometheus rule file.
import { stringify } from 'yaml'
import { alerts } from './alerts.ts'

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
