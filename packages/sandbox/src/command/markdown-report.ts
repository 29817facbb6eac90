import { entryLine } from '../journal/entry.ts'
import type { SandboxControl } from '../control/sandbox-control.ts'
import { severities } from '../verdict/rule.ts'
import type { Finding } from '../verdict/verdict.ts'
import { nothingFound } from './report.ts'

/** What a report reads: nothing of it is a token or a secret. */
type Seen = Pick<SandboxControl, 'counts' | 'verdict' | 'journal'>

export function markdownReport(control: Seen): string {
  const { issuers, apis } = control.counts()
  const { findings } = control.verdict()
  const nothing = nothingFound(control)
  return [
    '# Sandbox report',
    findings.length === 0
      ? `${nothing.charAt(0).toUpperCase()}${nothing.slice(1)}.`
      : `${severities(findings)}.`,
    table(
      ['issuer', 'token requests', 'issued', 'refused', 'failed'],
      Object.entries(issuers).map(([name, { requests, issued, refused, failed }]) => [
        name,
        requests,
        issued,
        refused,
        failed,
      ]),
    ),
    table(
      ['API', 'calls', 'answered', '401', '429', 'failed', 'most concurrent'],
      Object.entries(apis).map(([name, { calls, answered, rejected, limited, failed, maxConcurrent }]) => [
        name,
        calls,
        answered,
        rejected,
        limited,
        failed,
        maxConcurrent,
      ]),
    ),
    ...findings.map((finding) => section(finding, control)),
  ]
    .join('\n\n')
    .concat('\n')
}

function section({ rule, severity, message, fix, evidence, count }: Finding, control: Seen): string {
  const lines = evidence.flatMap((id) => control.journal({ id }).map((entry) => `    ${entryLine(entry)}`))
  return [`## ${severity}: ${rule} (${count})`, `${message}.`, `**Fix:** ${fix}`, lines.join('\n')]
    .filter((part) => part !== '')
    .join('\n\n')
}

const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [
    line(head),
    line(head.map((_, index) => (index === 0 ? '---' : '--:'))),
    ...rows.map((row) => line(row)),
  ].join('\n')
}
