// Runs every bench file of this folder in turn, each in a process of its own: `pnpm bench [--quick] [--write] [name …]`.
// A whole run, or one with `--write`, replaces the sections of results.md that it measured.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { basename, join } from 'node:path'

const folder = import.meta.dirname
const page = join(folder, 'results.md')
const args = process.argv.slice(2)
const names = args.filter((arg) => !arg.startsWith('--'))
const options = args.filter((arg) => arg.startsWith('--'))
const benches = globSync('*.ts', { cwd: folder })
  .map((file) => basename(file, '.ts'))
  .filter((name) => name !== 'run' && (names.length === 0 || names.includes(name)))
  .toSorted()

const [, ...known] = readFileSync(page, 'utf8').split(/^## /m)
const sections = new Map(known.map((section) => [section.split('\n')[0] ?? '', section]))
for (const name of benches) sections.set(name, `${name}\n\n${occasion()}\n\n${(await run(name)).trim()}\n\n`)
const isWhole = names.length === 0 && !options.includes('--quick')
if ((isWhole || options.includes('--write')) && process.exitCode === undefined)
  writeFileSync(page, `${head()}\n${[...sections.values()].map((section) => `## ${section}`).join('')}`)

/** Returns what a bench prints, and prints it. */
async function run(name: string): Promise<string> {
  const start = performance.now()
  const child = spawn(process.execPath, ['--expose-gc', join(folder, `${name}.ts`), ...options], {
    stdio: ['inherit', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    process.stdout.write(chunk)
  })
  const [status] = await once(child, 'close')
  if (status !== 0) process.exitCode = 1
  console.error(`\n${name}: ${((performance.now() - start) / 1_000).toFixed(0)} s`)
  return text
}

function occasion(): string {
  const load = os.loadavg().map((each) => each.toFixed(1))
  const quick = options.includes('--quick') ? ' --quick' : ''
  return `Measured on ${new Date().toISOString().slice(0, 10)} by \`pnpm bench${quick}\`. Load average at the start: ${load.join(', ')}.`
}

function head(): string {
  const [cpu] = os.cpus()
  const dependencies = Object.keys(manifestOf(folder).dependencies ?? {})
  const versions = dependencies
    .filter((name) => !name.startsWith('@tokenlane/'))
    .map((name) => `${name} ${manifestOf(join(folder, 'node_modules', name)).version}`)
  return `# Results of the benchmarks

Written by \`pnpm bench\` on a machine with ${os.availableParallelism()} cores (${cpu?.model.trim()}) and ${Math.round(os.totalmem() / 2 ** 30)} GiB of memory, running ${os.type()} and Node ${process.versions.node}.
[The README](README.md) says what each table measures. Absolute figures depend on the machine, so compare the ratios. A load
average above the number of cores means that the machine was busy with other work.

Package versions: ${versions.join(', ')}.
`
}

function manifestOf(of: string): { version: string; dependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(join(of, 'package.json'), 'utf8')) as ReturnType<typeof manifestOf>
}
