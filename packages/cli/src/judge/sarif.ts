import { existsSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'

import type { Exam } from './exam.ts'

/**
 * Returns an exam as a SARIF 2.1.0 log: a result for each finding of each scene. Its location is the first file that the
 * command names, because code scanning shows no result without one.
 */
export function sarifLog({ grade, seed, scenes }: Exam, command: readonly string[]): object {
  const found = scenes.flatMap(({ name, findings }) =>
    findings.map((finding) => ({ scene: name, ...finding })),
  )
  const rules = [...new Map(found.map((finding) => [finding.rule, finding])).values()]
  const file = command.find((part) => existsSync(part) && !isAbsolute(relative('', part)))
  const uri = file && encodeURI(relative('', file).replaceAll('\\', '/'))
  const locations =
    uri === undefined
      ? undefined
      : [{ physicalLocation: { artifactLocation: { uri }, region: { startLine: 1 } } }]
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'tokenlane judge',
            rules: rules.map(({ rule, severity, fix }) => ({
              id: rule,
              shortDescription: { text: rule },
              help: { text: fix },
              defaultConfiguration: { level: severity },
            })),
          },
        },
        automationDetails: { id: 'tokenlane/judge/' },
        properties: { grade, seed },
        results: found.map(({ scene, rule, severity, message, fix, count }) => ({
          ruleId: rule,
          ruleIndex: rules.findIndex((each) => each.rule === rule),
          level: severity,
          message: { text: `${scene}: ${message}. ${fix}` },
          locations,
          partialFingerprints: { 'sceneAndRule/v1': `${scene}/${rule}` },
          properties: { scene, count },
        })),
      },
    ],
  }
}
