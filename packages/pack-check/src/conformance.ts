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
export async function conformance(binary: string, { name, suite }: Runtime): Promise<ConformanceResult> {
  const temp = mkdtempSync(join(tmpdir(), 'tokenlane-conformance-'))
  const file = join(temp, 'report.json')
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const args = [
    'run',
    '--config',
    'vitest.workspace.ts',
    '--reporter=json',
    `--outputFile=${file}`,
    ...suite.after,
    'test/conformance',
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
  const ran = report.testResults.flatMap(({ name: path, assertionResults }) =>
    assertionResults.map(({ status, fullName }) => ({ client: clientOf(path), status, fullName })),
  )
  const passed = ran.filter(({ status }) => status === 'passed')
  const clients = [...new Set(ran.map(({ client }) => client))]
  const each = clients.map((client) => `${client} ${passed.filter((test) => test.client === client).length}`)
  const judged = ran
    .filter(({ status }) => status !== 'passed')
    .map(({ client, fullName }) => ({
      scenario: `${client}: ${fullName}`,
      because: suite.differs?.find(
        (known) => known.clients.includes(client) && known.scenarios.test(fullName),
      )?.because,
    }))
  return {
    count: `${passed.length} of ${ran.length}${judged.length > 0 ? `: ${each.join(', ')}` : ''}`,
    differences: judged.flatMap(({ scenario, because }) =>
      because === undefined ? [] : { scenario, because },
    ),
    failures: judged
      .filter(({ because }) => because === undefined)
      .map(({ scenario }) => `${name}: ${scenario}`),
  }
}

/** Of `packages/<client>/test/conformance.test.ts`. */
function clientOf(path: string): string {
  return basename(dirname(dirname(path)))
}
