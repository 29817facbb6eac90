import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'

import { root } from './packages.ts'
import { run } from './run.ts'
import type { Runtime } from './runtime.ts'

/** How many scenarios hold, in words, each one that cannot on that runtime, and each that should and does not. */
export interface ConformanceResult {
  readonly count: string
  readonly differences: readonly { readonly scenario: string; readonly because: string }[]
  readonly failures: readonly string[]
}

/** What is read of vitest's report. */
interface VitestReport {
  readonly testResults: readonly {
    /** Path of the file. */
    readonly name: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

/** Runs the conformance suite on a runtime. */
export async function conformance(
  binary: string,
  { name, clients, suite }: Runtime,
): Promise<ConformanceResult> {
  const temp = mkdtempSync(join(tmpdir(), 'tokenlane-conformance-'))
  const file = join(temp, 'report.json')
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const args = [
    'run',
    '--reporter=json',
    `--outputFile=${file}`,
    ...suite.after,
    ...clients.map((client) => `packages/${client}/test/conformance`),
  ]
  const { output } = await run(binary, [...suite.before, vitest, ...args], {
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
    return {
      count: 'none',
      differences: [],
      failures: [`${name}: no report of vitest (${String(error)})\n${output}`],
    }
  } finally {
    rmSync(temp, { recursive: true, force: true })
  }
}

function read(report: VitestReport, { name, suite }: Pick<Runtime, 'name' | 'suite'>): ConformanceResult {
  const files = report.testResults
    .map(({ name: path, assertionResults }) => ({ client: clientOf(path), tests: assertionResults }))
    .toSorted((a, b) => a.client.localeCompare(b.client))
  const ran = files.flatMap(({ client, tests }) => tests.map((test) => ({ client, ...test })))
  const failed = ran
    .filter((test) => !isPassed(test))
    .map(({ client, fullName }) => ({
      scenario: `${client}: ${fullName}`,
      because: suite.differs?.find(
        (known) => known.clients.includes(client) && known.scenarios.test(fullName),
      )?.because,
    }))
  const held = (client: string): number =>
    ran.filter((test) => test.client === client && isPassed(test)).length
  const each = [...new Set(ran.map(({ client }) => client))].map((client) => `${client} ${held(client)}`)
  return {
    count: `${ran.length - failed.length} of ${ran.length}${failed.length > 0 ? `: ${each.join(', ')}` : ''}`,
    differences: failed.flatMap(({ scenario, because }) =>
      because === undefined ? [] : { scenario, because },
    ),
    failures: [
      ...failed.filter(({ because }) => because === undefined).map(({ scenario }) => `${name}: ${scenario}`),
      // a file that cannot be loaded has no tests that fail
      ...files
        .filter(({ tests }) => tests.length === 0)
        .map(({ client }) => `${name}: ${client} ran nothing`),
    ],
  }
}

const isPassed = ({ status }: { readonly status: string }): boolean => status === 'passed'

/** Of `packages/<client>/test/conformance.test.ts`. */
function clientOf(path: string): string {
  return basename(dirname(dirname(path)))
}
