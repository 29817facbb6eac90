import { styleText } from 'node:util'

import type { Diagnosis } from './doctor.ts'
import type { Finding } from './finding.ts'

/** Where text goes: `styleText` colours it only for a terminal that wants colours. */
type Stream = NonNullable<Parameters<typeof styleText>[2]>['stream']

const colours = { error: 'red', warning: 'yellow', info: 'cyan' } as const

/** Returns a diagnosis as text for people, at most 80 columns wide where words allow it. */
export function reportText({ ok, findings, looked }: Diagnosis, stream: Stream): string {
  const blocks = findings.map((finding) => findingText(finding, stream))
  const lookedText = ['Looked at', ...looked.flatMap((line) => wrapped(line, 2))].join('\n')
  const end = ok ? styleText('green', 'Nothing is wrong.', { stream }) : `${countText(findings)}.`
  return [...blocks, lookedText, end].join('\n\n')
}

function findingText({ id, severity, subject, seen, why, fix, url }: Finding, stream: Stream): string {
  const head = `${styleText(colours[severity], severity, { stream })} ${styleText('bold', id, { stream })}`
  return [
    severity.length + id.length + subject.length + 3 > 80 ? `${head}\n  ${subject}` : `${head}  ${subject}`,
    ...row('seen', seen),
    ...row('why', why),
    ...row('fix', fix),
    ...row('more', url),
  ].join('\n')
}

function row(name: string, text: string): string[] {
  const [first = '', ...others] = wrapped(text, 8)
  return [`  ${name.padEnd(6)}${first.trimStart()}`, ...others]
}

function countText(findings: readonly Finding[]): string {
  const count = (severity: Finding['severity'], name: string): string[] => {
    const { length } = findings.filter((one) => one.severity === severity)
    return length === 0 ? [] : [`${length} ${name}${length === 1 ? '' : 's'}`]
  }
  return [...count('error', 'error'), ...count('warning', 'warning'), ...count('info', 'note')].join(', ')
}

/** Breaks a text between words into indented lines of at most 80 columns. */
function wrapped(text: string, indent: number): string[] {
  const lines: string[] = []
  const room = 80 - indent
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= room)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.map((line) => ' '.repeat(indent) + line)
}
