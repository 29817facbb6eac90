import { styleText } from 'node:util'

import { columnsOf, hanging } from '../hanging.ts'
import type { Diagnosis } from './doctor.ts'
import type { Finding } from '../checks/finding.ts'

/** The stream that gets the text. `styleText` adds colours only if it is a terminal that supports them. */
type Stream = NonNullable<Parameters<typeof styleText>[2]>['stream'] & { readonly columns?: number }

const colours = { error: 'red', warning: 'yellow', info: 'cyan' } as const

/** Returns a diagnosis as readable text, at most 80 columns wide unless a word is longer. */
export function reportText({ ok, findings, looked }: Diagnosis, stream: Stream): string {
  const columns = Math.min(80, columnsOf(stream, 80))
  const blocks = findings.map((finding) => findingText(finding, columns, stream))
  const lookedText = ['Checked', ...looked.map(({ text }) => hanging('  ', text, 4, columns))].join('\n')
  const end = ok ? styleText('green', 'No problems found.', { stream }) : `${countText(findings)}.`
  return [...blocks, lookedText, end].join('\n\n')
}

function findingText(
  { id, severity, subject, seen, why, fix, url }: Finding,
  columns: number,
  stream: Stream,
): string {
  const head = `${styleText(colours[severity], severity, { stream })} ${styleText('bold', id, { stream })}`
  const isLong = severity.length + id.length + subject.length + 3 > columns
  const row = (name: string, text: string): string => hanging(`  ${name.padEnd(6)}`, text, 8, columns)
  return [
    isLong ? `${head}\n  ${subject}` : `${head}  ${subject}`,
    row('seen', seen),
    row('why', why),
    row('fix', fix),
    row('more', url),
  ].join('\n')
}

function countText(findings: readonly Finding[]): string {
  const counts = (['error', 'warning', 'info'] as const).flatMap((severity) => {
    const { length } = findings.filter((one) => one.severity === severity)
    return length === 0 ? [] : [`${length} ${severity}${length === 1 || severity === 'info' ? '' : 's'}`]
  })
  return counts.join(', ')
}
