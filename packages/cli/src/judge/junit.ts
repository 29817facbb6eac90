import Builder from 'fast-xml-builder'

import type { Exam } from './exam.ts'
import type { SceneReport } from './play-scene.ts'

type Attributes = Readonly<Record<`@${string}`, string | number>>

/**
 * Returns an exam as a JUnit report: a test case for each scene, skipped where it is not graded. Both schemas in use take
 * it: that of Ant (JUnit.xsd) and that of Jenkins (junit-10.xsd).
 */
export function junitXml({ grade, seed, scenes }: Exam, at: Date): string {
  const failed = scenes.filter(({ findings }) => findings.length > 0)
  const suite = {
    '@package': 'tokenlane',
    '@id': 0,
    '@name': 'tokenlane judge',
    '@timestamp': at.toISOString().slice(0, 19),
    '@hostname': 'localhost',
    '@tests': scenes.length,
    '@failures': failed.length,
    '@errors': 0,
    '@skipped': scenes.filter(({ notGraded }) => notGraded !== undefined).length,
    '@time': seconds(scenes.reduce((sum, { duration }) => sum + duration, 0)),
    properties: { property: [property('grade', grade ?? 'none'), property('seed', seed)] },
    testcase: scenes.map((scene) => testCase(scene)),
    'system-out': '',
    'system-err': '',
  }
  const builder = new Builder({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    format: true,
    suppressEmptyNode: true,
  })
  const document = { '?xml': { '@version': '1.0', '@encoding': 'UTF-8' }, testsuites: { testsuite: suite } }
  return builder.build(withoutControls(document))
}

function testCase({ name, duration, notGraded, findings }: SceneReport): object {
  const [first] = findings
  return {
    '@name': name,
    '@classname': 'tokenlane.judge',
    '@time': seconds(duration),
    ...(notGraded !== undefined && { skipped: { '@message': notGraded } }),
    ...(first && {
      failure: {
        '@message': findings.map(({ rule, message }) => `${rule}: ${message}`).join('; '),
        '@type': first.rule,
        '#text': findings
          .map(({ rule, severity, message, fix }) => `${severity} ${rule}: ${message}. ${fix}`)
          .join('\n'),
      },
    }),
  }
}

const property = (name: string, value: string | number): Attributes => ({ '@name': name, '@value': value })

const seconds = (ms: number): string => (ms / 1_000).toFixed(3)

const unwritable = /(?![\t\n\r])\p{Cc}|[\uFFFE\uFFFF]/gu

function withoutControls<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value), (_, each: unknown) =>
    typeof each === 'string' ? each.replaceAll(unwritable, '') : each,
  ) as Value
}
