import { execSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { dirname, join } from 'node:path'

const bench = dirname(import.meta.dirname)
const root = dirname(bench)
const page = join(root, 'docs', 'benchmarks.md')

const headings: Readonly<Record<string, string>> = {
  'hot-path': 'Hot path',
  queue: 'Queue',
  rate: 'Rate policies',
  'start-up': 'Start-up',
  storms: 'Storms',
  'whole-call': 'Whole call',
}

/** Writes `docs/benchmarks.md` from what the benches printed. */
export function writePage(outputs: ReadonlyMap<string, string>, args: readonly string[]): void {
  const sections = Array.from(outputs, ([name, text]) => `## ${headings[name] ?? name}\n\n${text.trim()}\n`)
  writeFileSync(page, `${head(args)}\n${sections.join('\n')}`)
  execSync(`oxfmt ${JSON.stringify(page)}`, { cwd: root })
}

function head(args: readonly string[]): string {
  const [cpu] = os.cpus()
  const load = os.loadavg().map((each) => each.toFixed(1))
  const date = new Date().toISOString().slice(0, 10)
  const machine = `${os.availableParallelism()} cores (${cpu?.model.trim()}), ${Math.round(os.totalmem() / 2 ** 30)} GiB`
  return `# Benchmarks

Written by \`pnpm bench${args.map((arg) => ` ${arg}`).join('')}\` on ${date}: ${os.type()} ${os.release()}, ${machine}, Node
${process.versions.node}; load average ${load.join(', ')} at the end. [What each table measures](../bench/README.md).

Absolute figures are of that machine; ratios are what counts.

${versions()}
`
}

/** Of what is measured beside Tokenlane. */
function versions(): string {
  const { dependencies } = manifestOf(bench)
  const names = Object.keys(dependencies ?? {}).filter((name) => !name.startsWith('@tokenlane/'))
  const list = names.map((name) => `${name} ${manifestOf(join(bench, 'node_modules', name)).version}`)
  return `Measured with ${list.join(', ')}.`
}

function manifestOf(folder: string): { version: string; dependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as ReturnType<typeof manifestOf>
}
