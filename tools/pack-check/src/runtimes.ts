// Uses the installed tarballs on every runtime, and runs the conformance suite there: `pnpm --dir tools/pack-check runtimes`. With a part of a
// name, as in `… runtimes deno`, it runs those alone. Writes their rows of docs/runtimes.md; the others stay as they
// are, with their dates. Takes runtimes from npm.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { conformance } from './conformance.ts'
import { edgeRow, edgeRuntimes } from './edge-runtime.ts'
import { root } from './packages.ts'
import { makeProject, type Project } from './project.ts'
import { must, run } from './run.ts'
import { keepRows, type Row } from './runtime-rows.ts'
import { binaryOf, type Runtime, runtimes } from './runtime.ts'
import { runtimesPage } from './runtimes-page.ts'

const [part = ''] = process.argv.slice(2)
using project = await makeProject()

const ids = [...runtimes, ...edgeRuntimes].map(({ id }) => id)
const isChosen = ({ name }: { readonly name: string }): boolean =>
  name.toLowerCase().includes(part.toLowerCase())
const rows: Row[] = []
for (const runtime of runtimes.filter(isChosen)) rows.push(said(await rowOf(runtime, project)))
for (const runtime of edgeRuntimes.filter(isChosen)) rows.push(said(await edgeRow(runtime, project)))
const page = join(root, 'docs', 'runtimes.md')
writeFileSync(page, runtimesPage(keepRows(rows, ids)))
await must('oxfmt', 'pnpm', ['exec', 'oxfmt', page, join(root, 'tools', 'pack-check')], { cwd: root })

/** Prints a row while others still run. */
function said(row: Row): Row {
  console.log(row.runtime, row.cells)
  for (const { scenario } of row.differences) console.log(`${row.runtime} differs: ${scenario}`)
  for (const text of row.trouble) console.error(text)
  if (row.trouble.length > 0) process.exitCode = 1
  return row
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
  return { id: runtime.id, runtime: runtime.name, cells, differences, trouble: [...trouble, ...failures] }
}
