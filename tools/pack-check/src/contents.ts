import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { InstalledPackage } from './project.ts'

const allowed = /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|(dist|src)\/.+\.[cm]?[jt]s(\.map)?)$/
/** What single packages bring beside their code. */
const assets: Readonly<Record<string, RegExp>> = {
  '@tokenlane/core': /^(troubleshoot\.md|dist\/p-queue\.LICENSE\.txt)$/,
  '@tokenlane/otel': /^dashboards\/tokenlane\.(grafana\.json|rules\.yml)$/,
  '@tokenlane/sandbox': /^console\/dist\/(index\.html|icon\.svg|assets\/[\w-]+\.(js|css))$/,
}
/** What a package's own files hold of a dependency, with its licence beside them: they import nothing of it. */
const held: Readonly<Record<string, string>> = { '@tokenlane/core': 'p-queue' }
const never = /\.test\./
const wanted = ['README.md', 'LICENSE', 'dist/index.js', 'dist/index.d.ts', 'src/index.ts']

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
  const absent = wanted.filter((file) => !existsSync(join(installed, file)))
  return [
    ...odd.map((file) => `${name} holds ${file}, which a user does not need`),
    ...absent.map((file) => `${name} lacks ${file}`),
    ...heldFaults(name, installed),
  ]
}

function heldFaults(name: string, installed: string): string[] {
  const dependency = held[name]
  if (dependency === undefined) return []
  const dist = join(installed, 'dist')
  const importing = new RegExp(`(from|import) *["']${dependency}["']`)
  const importers = readdirSync(dist)
    .filter((file) => file.endsWith('.js'))
    .filter((file) => importing.test(readFileSync(join(dist, file), 'utf8')))
  const licence = `dist/${dependency}.LICENSE.txt`
  return [
    ...importers.map((file) => `${name} loads ${dependency} in dist/${file}, of which it holds what it uses`),
    ...(existsSync(join(installed, licence)) ? [] : [`${name} lacks ${licence}`]),
  ]
}
