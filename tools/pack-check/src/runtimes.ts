// Uses the installed tarballs on every runtime, and runs the conformance suite there: `pnpm runtimes`.
// Writes docs/runtimes.md; with a part of a name, as in `pnpm runtimes deno`, only prints. Takes runtimes from npm.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { conformance, type ConformanceResult } from './conformance.ts'
import { edgeTable } from './edge-table.ts'
import { root } from './packages.ts'
import { makeProject, type Project } from './project.ts'
import { must, run } from './run.ts'
import { binaryOf, type Runtime, runtimes } from './runtime.ts'

/** What one runtime did: per column of the table a word, and what was printed where that is no `works`. */
interface Row {
  readonly runtime: string
  readonly cells: Readonly<Record<string, string>>
  /** Scenarios that cannot hold there. */
  readonly differences: ConformanceResult['differences']
  readonly trouble: readonly string[]
}

const [part = ''] = process.argv.slice(2)
const isChosen = (name: string): boolean => name.toLowerCase().includes(part.toLowerCase())
const chosen = runtimes.filter(({ name }) => isChosen(name))
using project = await makeProject()

const rows: Row[] = []
for (const runtime of chosen) {
  const row = await rowOf(runtime, project)
  rows.push(row)
  console.log(row.runtime, row.cells)
  for (const { scenario } of row.differences) console.log(`${row.runtime} differs: ${scenario}`)
  for (const text of row.trouble) console.error(text)
  if (row.trouble.length > 0) process.exitCode = 1
}
const edge = isChosen('workerd') ? await edgeTable(project) : ''
console.log(edge)
if (chosen.length === runtimes.length && !process.exitCode) {
  const page = join(root, 'docs', 'runtimes.md')
  writeFileSync(page, table())
  await must('oxfmt', 'pnpm', ['exec', 'oxfmt', page], { cwd: root })
}

async function rowOf(runtime: Runtime, { folder, packages }: Project): Promise<Row> {
  const binary = await binaryOf(runtime)
  const entries = packages.flatMap((item) => item.entries)
  const { clients } = runtime
  const cells: Record<string, string> = {}
  const trouble: string[] = []
  for (const [system, extension] of [
    ['ESM', 'mjs'],
    ['CommonJS', 'cjs'],
  ] as const) {
    const loaded = await run(binary, [...runtime.args, `entries.${extension}`, ...entries], { cwd: folder })
    cells[`entries, ${system}`] = loaded.ok ? 'works' : 'fails'
    if (!loaded.ok) trouble.push(loaded.output)

    const beside = ['with-sandbox.mjs', binary, ...runtime.args, `calls.${extension}`]
    const { output } = await run(process.execPath, beside, { cwd: folder })
    const worked = clients.filter((client) => output.split('\n').includes(JSON.stringify({ client })))
    cells[`calls, ${system}`] = worked.length > 0 ? worked.join(', ') : 'none'
    if (worked.length < clients.length) trouble.push(output)
  }
  const suite = await conformance(binary, runtime)
  cells['conformance suite'] = suite.count
  const { differences, failures } = suite
  return { runtime: runtime.name, cells, differences, trouble: [...trouble, ...failures] }
}

function table(): string {
  const columns = Object.keys(rows[0]?.cells ?? {})
  const lines = rows.map(
    ({ runtime, cells }) => `| ${runtime} | ${columns.map((name) => cells[name]).join(' | ')} |`,
  )
  return `# Runtimes

What the packed packages do on each runtime, installed by npm outside of the workspace. _Entries_: every entry of every
package is imported (ESM) and required (CommonJS). _Calls_: each client calls both APIs of a sandbox over TLS, with a
body, across revoked tokens, through a rate policy, into an abort, and to a URL that gets no token; the sandbox runs on
Node. The _conformance
suite_ counts the [scenarios](conformance.md) that hold, of all clients together, and of each where some do not; there the
sandbox too runs on that runtime.

| runtime | ${columns.join(' | ')} |
| --- | ${columns.map(() => '---').join(' | ')} |
${lines.join('\n')}

${rows.map(differencesOf).join('')}
${edge}
Written by \`pnpm runtimes\`.
`
}

function differencesOf({ runtime, differences }: Row): string {
  const reasons = [...new Set(differences.map(({ because }) => because))]
  if (reasons.length === 0) return ''
  const parts = reasons.map((reason) => {
    const scenarios = differences.filter(({ because }) => because === reason)
    return `${reason}\n\n${scenarios.map(({ scenario }) => `- ${scenario}\n`).join('')}`
  })
  return `## What does not hold on ${runtime}\n\n${parts.join('\n')}\n`
}
