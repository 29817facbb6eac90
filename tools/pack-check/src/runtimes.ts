// Uses the packed packages on every runtime, and runs the conformance suite there: `pnpm --dir tools/pack-check runtimes`.
// With a part of a name, as in `… runtimes deno`, on those alone. Takes runtimes from npm. docs/support.md says what must
// come of it.
import { readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

import { root } from './packages.ts'
import { makeProject } from './project.ts'
import { run } from './run.ts'
import { binaryOf, runtimes, type Runtime } from './runtime.ts'

const [part = ''] = process.argv.slice(2)
using project = await makeProject()
for (const runtime of runtimes.filter(({ name }) => name.toLowerCase().includes(part.toLowerCase()))) {
  const troubles = [...(await troublesOf(runtime)), ...(await conformanceTroublesOf(runtime))]
  console.log(troubles.length === 0 ? `${runtime.name}: all holds` : troubles.join('\n'))
  if (troubles.length > 0) process.exitCode = 1
}

/** What does not load, or which client's calls fail. */
async function troublesOf(runtime: Runtime): Promise<string[]> {
  const { name, clients, args } = runtime
  const binary = await binaryOf(runtime)
  const cwd = project.folder
  const troubles: string[] = []
  for (const how of ['import', 'require']) {
    const entries = project.packages.flatMap((item) => item.entries)
    const loaded = await run(binary, [...args, 'entries.mjs', how, ...entries], { cwd })
    if (!loaded.ok) troubles.push(`${name}: ${how} fails\n${loaded.output}`)
    const beside = ['with-sandbox.mjs', binary, ...args, 'calls.mjs', how]
    const { output } = await run(process.execPath, beside, { cwd })
    const lines = output.split('\n')
    if (!clients.every((client) => lines.includes(JSON.stringify({ client }))))
      troubles.push(`${name}: calls (${how})\n${output}`)
  }
  return troubles
}

/** Scenarios that fail and are not known to. */
async function conformanceTroublesOf(runtime: Runtime): Promise<string[]> {
  const { name, clients, suite } = runtime
  const binary = await binaryOf(runtime)
  const report = join(project.folder, 'report.json')
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const files = clients.map((client) => `packages/${client}/test/conformance`)
  const args = ['run', '--reporter=json', `--outputFile=${report}`, ...suite.after, ...files]
  const PATH = [dirname(binary), process.env['PATH']].join(delimiter)
  const { output } = await run(binary, [...suite.before, vitest, ...args], {
    cwd: root,
    env: { ...process.env, PATH, ...suite.env },
  })
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report
    const tests = testResults.flatMap((file) => file.assertionResults)
    console.log(`${name}: ${tests.length} scenarios`)
    if (tests.length === 0) return [`${name}: no scenario ran\n${output}`]
    return [
      // a file that cannot be loaded has no tests that fail
      ...testResults
        .filter((file) => file.assertionResults.length === 0)
        .map((file) => `${file.name} ran nothing`),
      ...tests
        .filter(({ status, fullName }) => status !== 'passed' && suite.differs?.test(fullName) !== true)
        .map(({ fullName }) => `${name}: ${fullName}`),
    ]
  } catch (error) {
    return [`${name}: no report of vitest (${String(error)})\n${output}`]
  }
}

/** What is read of vitest's report. */
interface Report {
  readonly testResults: readonly {
    /** Path of the file. */
    readonly name: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}
