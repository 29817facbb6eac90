import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'

import Builder from 'fast-xml-builder'

import { WrongUsage } from '../exit-status.ts'
import type { Exam } from './exam.ts'
import type { SceneReport } from './play-scene.ts'

/** Whether a text is a JUnit report, such as that of the last run. */
export function isJunit(text: string): boolean {
  return /^\uFEFF?\s*(?:<\?xml[^>]*>\s*)?<testsuites?[\s>/]/.test(text)
}

export function isSarif(text: string): boolean {
  try {
    const log = JSON.parse(text) as { version?: unknown; runs?: unknown } | null
    return typeof log?.version === 'string' && Array.isArray(log.runs)
  } catch {
    return false
  }
}

/**
 * Returns what writes a report to a file, at once and as a whole: until then the file stays as it is.
 *
 * @param isReport whether a text that the file has may be replaced.
 * @throws WrongUsage if the file cannot be written, or has anything but a report or nothing in it.
 */
export function reportFile(file: string, isReport: (text: string) => boolean): (text: string) => void {
  const inWords = (act: () => void): void => {
    try {
      act()
    } catch (error) {
      if (error instanceof WrongUsage) throw error
      throw new WrongUsage(`Cannot write ${file}: ${(error as NodeJS.ErrnoException).code}`)
    }
  }
  const found = statSync(file, { throwIfNoEntry: false })
  // a pipe or a terminal has nothing to lose
  if (found !== undefined && !found.isFile() && !found.isDirectory())
    return (text) => inWords(() => writeFileSync(file, text))
  let folder = ''
  inWords(() => {
    if (found !== undefined) mustBeReport(file, isReport)
    // in the folder of the file: a file cannot be renamed across file systems
    folder = mkdtempSync(join(dirname(file), '.tokenlane-judge-'))
    rmSync(folder, { recursive: true })
  })
  return (text) =>
    inWords(() => {
      folder = mkdtempSync(join(dirname(file), '.tokenlane-judge-'))
      try {
        const whole = join(folder, basename(file))
        writeFileSync(whole, text)
        renameSync(whole, file)
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    })
}

function mustBeReport(file: string, isReport: (text: string) => boolean): void {
  const text = readFileSync(file, 'utf8')
  if (text.trim() !== '' && !isReport(text))
    throw new WrongUsage(`Cannot write ${file}: it exists and is not such a report; name a new file`)
}

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
