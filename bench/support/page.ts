import { execSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { dirname, join } from 'node:path'

import { comparisons, comparisonTable, frontTable, parts } from './front.ts'
import { tablesOf } from './tables.ts'

const bench = dirname(import.meta.dirname)
const root = dirname(bench)
const page = join(root, 'docs', 'measurements.md')
const frontPage = join(root, 'docs', 'benchmarks.md')
const readme = join(root, 'README.md')

const headings: Readonly<Record<string, string>> = {
  fleet: 'Fleet',
  'hot-path': 'Hot path',
  observing: 'Observing',
  load: 'Under load',
  managers: 'Many managers',
  queue: 'Queue',
  rate: 'Rate policies',
  'start-up': 'Start-up',
  storms: 'Storms',
  'whole-call': 'Whole call',
}

/** Charts that `charts.ts` draws, each with what it shows for readers who cannot see it. */
const charts: Readonly<Record<string, readonly [image: string, alternative: string]>> = {
  fleet: ['bench-fleet', 'Bar chart: the share of the quota that eight processes with one budget use'],
  'hot-path': ['bench-hot-path', 'Bar chart: nanoseconds to authorize a call, for Tokenlane and its peers'],
  queue: ['bench-queue', 'Bar charts: time and heap per queued call, relative to p-queue'],
  rate: [
    'bench-rate',
    'Bar charts: the share of the quota used, and 429 responses in 1,000 calls, with an API that takes 2 s to respond',
  ],
  storms: ['peers', 'Bar charts: token requests, lost calls and 429s for Tokenlane and alternatives'],
  'whole-call': [
    'bench-whole-call',
    'Bar charts: CPU time per call for each client, relative to the bare client',
  ],
}

/**
 * Writes what the benches printed into `docs/measurements.md`, and what most readers ask for into `docs/benchmarks.md`. The
 * sections of other benches stay as they are, each with the day and the load of its own run.
 */
export function writePage(outputs: ReadonlyMap<string, string>, args: readonly string[]): void {
  const sections = knownSections()
  for (const [name, text] of outputs)
    sections.set(headings[name] ?? name, [occasion(args), ...chartOf(name), text.trim(), ''].join('\n\n'))
  const inOrder = [...sections].toSorted(([a], [b]) => a.localeCompare(b, 'en'))
  const body = inOrder.map(([heading, text]) => `## ${heading}\n\n${text}`).join('\n')
  writeFileSync(page, `${head()}\n${body}`)
  writeFileSync(frontPage, frontText(sections))
  writeFileSync(readme, withComparisons(readFileSync(readme, 'utf8'), sections))
  execSync(`oxfmt ${[page, frontPage, readme].map((file) => JSON.stringify(file)).join(' ')}`, { cwd: root })
}

/**
 * Returns the README with its comparisons, and the days of their measurements, as the sections have them.
 *
 * @throws Error when it lacks one of them, because it was rewritten.
 */
export function withComparisons(
  readmeText: string,
  sections: ReadonlyMap<string, string> = knownSections(),
): string {
  const days = new Set(comparisons.map(({ section }) => dayOf(sections, section)))
  const day = /(?<=^Measured side by side on one machine, on )[\d, and-]+(?= \()/m
  if (!day.test(readmeText)) throw new Error('README.md does not say when it was measured')
  let text = readmeText.replace(day, [...days].toSorted().join(' and '))
  for (const comparison of comparisons) {
    const { section, follows } = comparison
    const [measured] = tablesOf(`\n## ${section}\n\n${sections.get(section) ?? ''}`, section)
    const start = text.indexOf(`\n${follows}\n\n|`)
    if (measured === undefined || start < 0) throw new Error(`README.md has no table after "${follows}"`)
    const [before, after] = [text.slice(0, start), text.slice(start)]
    text = before + after.replace(/(?:^\|.*\|\n)+/m, comparisonTable(measured, comparison))
  }
  return text
}

/** Returns the front page, of the sections that the other page has by default. */
export function frontText(sections: ReadonlyMap<string, string> = knownSections()): string {
  const text = parts.map(({ title, section, caption, says, first, tables }) => {
    const [, after] = (sections.get(section) ?? '').split(`\n${caption}`)
    const [measured] = tablesOf(`\n## ${section}\n${caption}${after ?? ''}`, section)
    if (measured === undefined) throw new Error(`No table follows "${caption}" in the section ${section}`)
    const anchor = section.toLowerCase().replaceAll(' ', '-')
    const shown = tables.map((table) => frontTable(measured, first, table))
    return `## ${title}\n\n${says} Measured on ${dayOf(sections, section)}: [details](measurements.md#${anchor}).\n\n${shown.join('\n')}`
  })
  const [image, alternative] = charts['storms'] ?? []
  return `# Benchmarks

All tables were measured on one machine, and all rows of a table in the same run. Compare ratios, not absolute figures.
[All measurements](measurements.md) has every table, the machine and the package versions. [The benchmarks'
README](../bench/README.md) says how to repeat the measurements.

![${alternative}](images/${image}.svg)

${text.join('\n')}`
}

function dayOf(sections: ReadonlyMap<string, string>, section: string): string {
  const day = /^Measured on ([\d-]+)/m.exec(sections.get(section) ?? '')?.[1]
  if (day === undefined) throw new Error(`The section ${section} does not say when it was measured`)
  return day
}

function chartOf(name: string): string[] {
  const [image, alternative] = charts[name] ?? []
  return image === undefined ? [] : [`![${alternative}](images/${image}.svg)`]
}

/** By heading. */
function knownSections(): Map<string, string> {
  const [, ...sections] = existsSync(page) ? readFileSync(page, 'utf8').split(/^## /m) : []
  return new Map(
    sections.map((section) => {
      const end = section.indexOf('\n')
      return [section.slice(0, end), `${section.slice(end).trim()}\n`]
    }),
  )
}

function occasion(args: readonly string[]): string {
  const load = os.loadavg().map((each) => each.toFixed(1))
  const options = args.filter((arg) => arg === '--quick')
  const command = ['pnpm bench', ...options].join(' ')
  return `Measured on ${new Date().toISOString().slice(0, 10)} by \`${command}\`. Load average at the end: ${load.join(', ')}.`
}

function head(): string {
  const [cpu] = os.cpus()
  const machine = `${os.availableParallelism()} cores (${cpu?.model.trim()}) and ${Math.round(os.totalmem() / 2 ** 30)} GiB of memory`
  return `# All measurements

Written by \`pnpm bench\` on a machine with ${machine}, running ${os.type()} ${os.release().replace(/-.*/, '')} and Node ${process.versions.node}.
[The benchmarks' README](../bench/README.md) says what each table measures. Absolute figures depend on the machine, so compare
the ratios. A load average above the number of cores means that the machine was busy with other work.

${versions()}
`
}

/** Returns the versions of the packages measured alongside Tokenlane. */
function versions(): string {
  const { dependencies } = manifestOf(bench)
  const names = Object.keys(dependencies ?? {}).filter((name) => !name.startsWith('@tokenlane/'))
  const list = names.map((name) => `${name} ${manifestOf(join(bench, 'node_modules', name)).version}`)
  return `Package versions: ${list.join(', ')}.`
}

function manifestOf(folder: string): { version: string; dependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as ReturnType<typeof manifestOf>
}
