import { styleText } from 'node:util'

import { hanging, type TextStream, textWidth } from '../hanging.ts'
import type { Diagnosis } from './doctor.ts'
import type { Finding } from '../checks/finding.ts'

const colours = { error: 'red', warning: 'yellow', info: 'cyan' } as const

/** Returns a diagnosis as readable text, at most 80 columns wide unless a word is longer. */
export function reportText({ ok, findings, looked }: Diagnosis, stream: TextStream): string {
  const columns = textWidth(stream)
  const blocks = findings.map((finding) => findingText(finding, columns, stream))
  const lookedText = ['Checked', ...looked.map(({ text }) => hanging('  ', text, 4, columns))].join('\n')
  const end = ok ? styleText('green', 'No problems found.', { stream }) : `${countText(findings)}.`
  return [...blocks, lookedText, end].join('\n\n')
}

function findingText(
  { id, severity, subject, seen, why, fix, url }: Finding,
  columns: number,
  stream: TextStream,
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
