import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { readManifest } from './packages.ts'
import type { InstalledPackage } from './project.ts'

const allowed = /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|(dist|src)\/.+\.[cm]?[jt]s(\.map)?)$/
/** What single packages bring beside their code. */
const assets: Readonly<Record<string, RegExp>> = {
  '@tokenlane/core': /^troubleshoot\.md$/,
  tokenlane: /^guide\/.+\.md$/,
  '@tokenlane/redis': /^src\/.+\.lua$/,
  '@tokenlane/otel': /^dashboards\/tokenlane\.(grafana\.json|rules\.yml)$/,
  '@tokenlane/sandbox': /^console\/dist\/(index\.html|icon\.svg|licenses\.md|assets\/[\w-]+\.(js|css))$/,
}
/** The packages that bring dependencies of others into applications. */
const ranged = new Set(['@tokenlane/core'])
const never = /\.test\./
const wanted = ['README.md', 'LICENSE', 'dist/index.js', 'dist/index.d.ts', 'src/index.ts']
const wantedOf: Readonly<Record<string, readonly string[]>> = {
  '@tokenlane/sandbox': ['console/dist/licenses.md'],
  tokenlane: ['guide/doctor.md', 'guide/providers.md'],
}

/** What is wrong with the files of a tarball, one sentence each. */
export function contentFaults({ name, installed }: InstalledPackage): string[] {
  const odd = readdirSync(installed, { recursive: true, withFileTypes: true })
    // what npm put there because another version of it is at the top
    .filter((entry) => !entry.isDirectory() && !entry.parentPath.startsWith(join(installed, 'node_modules')))
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(installed.length + 1)
        .replaceAll('\\', '/'),
    )
    .filter((file) => never.test(file) || !(allowed.test(file) || assets[name]?.test(file)))
  const absent = [...wanted, ...(wantedOf[name] ?? [])].filter((file) => !existsSync(join(installed, file)))
  return [
    ...odd.map((file) => `${name} holds ${file}, which a user does not need`),
    ...absent.map((file) => `${name} lacks ${file}`),
    ...dependencyFaults(name, installed),
    ...mapFaults(name, installed),
  ]
}

/** An override, an audit and a fix must reach what runs: dependencies of others are ranges, and imports. */
function dependencyFaults(name: string, installed: string): string[] {
  if (!ranged.has(name)) return []
  const code = filesIn(installed, '.js').map((file) => readFileSync(file, 'utf8'))
  const dependencies = Object.entries(readManifest(installed).dependencies ?? {})
  const pinned = dependencies.filter(([, range]) => !/^\^\d/.test(range))
  const unused = dependencies.filter(
    ([dependency]) => !code.some((text) => new RegExp(`from *["']${dependency}["']`).test(text)),
  )
  return [
    ...pinned.map(([dependency, range]) => `${name} depends on ${dependency} ${range}, not on a caret range`),
    ...unused.map(([dependency]) => `${name} depends on ${dependency}, and imports nothing of it`),
  ]
}

/** A source map names the sources that lie beside it, and does not repeat them. */
function mapFaults(name: string, installed: string): string[] {
  const faults: string[] = []
  for (const file of filesIn(installed, '.js.map')) {
    const { sources, sourcesContent } = JSON.parse(readFileSync(file, 'utf8')) as {
      readonly sources: readonly string[]
      readonly sourcesContent?: unknown
    }
    if (sourcesContent !== undefined) faults.push(`${name} repeats its sources in ${file}`)
    for (const source of sources)
      if (!existsSync(join(dirname(file), source)))
        faults.push(`${name} has no ${source}, which ${file} names`)
  }
  return faults
}

function filesIn(installed: string, end: string): string[] {
  return readdirSync(join(installed, 'dist'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(end))
    .map((file) => join(installed, 'dist', file))
}
