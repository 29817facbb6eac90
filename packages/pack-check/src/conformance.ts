import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'

import { root } from './packages.ts'
import { run } from './run.ts'
import type { Runtime } from './runtime.ts'

/** How many scenarios hold, in words, and each one that should and does not. */
export interface ConformanceResult {
  readonly count: string
  readonly failures: readonly string[]
}

/** What is read of vitest's report. */
interface VitestReport {
  readonly numPassedTests: number
  readonly numTotalTests: number
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

/** Runs the conformance suite on a runtime. */
export async function conformance(binary: string, { name, suite }: Runtime): Promise<ConformanceResult> {
  const temp = mkdtempSync(join(tmpdir(), 'tokenlane-conformance-'))
  const file = join(temp, 'report.json')
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const filters = suite.clients?.map((client) => `packages/${client}/test/conformance`) ?? [
    'test/conformance',
  ]
  const args = [
    'run',
    '--config',
    'vitest.workspace.ts',
    '--reporter=json',
    `--outputFile=${file}`,
    ...suite.after,
  ]
  const { output } = await run(binary, [...suite.before, vitest, ...args, ...filters], {
    cwd: root,
    env: {
      ...process.env,
      PATH: [dirname(binary), process.env['PATH']].join(delimiter),
      ...suite.env,
    },
  })
  try {
    return read(JSON.parse(readFileSync(file, 'utf8')) as VitestReport, { name, suite })
  } catch (error) {
    return { count: 'none', failures: [`${name}: no report of vitest (${String(error)})\n${output}`] }
  } finally {
    rmSync(temp, { recursive: true, force: true })
  }
}

function read(report: VitestReport, { name, suite }: Pick<Runtime, 'name' | 'suite'>): ConformanceResult {
  const failed = report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status, fullName }) => status !== 'passed' && !suite.differs?.scenarios.test(fullName))
  const count = `${report.numPassedTests} of ${report.numTotalTests}`
  return {
    count: suite.clients === undefined ? count : `${suite.clients.join(', ')}: ${count}`,
    failures: failed.map(({ fullName }) => `${name}: ${fullName}`),
  }
}
