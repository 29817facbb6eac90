import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { readManifest } from './packages.ts'
import type { InstalledPackage } from './project.ts'

const allowed = /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|(dist|src)\/.+\.[cm]?[jt]s(\.map)?)$/
/** What single packages bring beside their code. */
const assets: Readonly<Record<string, RegExp>> = {
  '@tokenlane/core': /^(troubleshoot\.md|dist\/(oauth4webapi|p-queue)\.LICENSE\.txt)$/,
  '@tokenlane/otel': /^dashboards\/tokenlane\.(grafana\.json|rules\.yml)$/,
  '@tokenlane/sandbox': /^console\/dist\/(index\.html|icon\.svg|assets\/[\w-]+\.(js|css))$/,
}
/**
 * Dependencies of which a package's own files hold what it uses, with the licence beside them: they import nothing of it.
 * The manifest names the exact version that they hold, so that an audit finds it, and an update alone promises nothing.
 */
const held: Readonly<Record<string, readonly string[]>> = { '@tokenlane/core': ['oauth4webapi', 'p-queue'] }
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
    ...(held[name] ?? []).flatMap((dependency) => heldFaults(name, installed, dependency)),
  ]
}

function heldFaults(name: string, installed: string, dependency: string): string[] {
  const dist = join(installed, 'dist')
  const importing = new RegExp(`(from|import) *["']${dependency}["']`)
  const importers = readdirSync(dist)
    .filter((file) => file.endsWith('.js'))
    .filter((file) => importing.test(readFileSync(join(dist, file), 'utf8')))
  const licence = `dist/${dependency}.LICENSE.txt`
  const range = readManifest(installed).dependencies?.[dependency] ?? 'nothing'
  return [
    ...(/^\d+\.\d+\.\d+$/.test(range)
      ? []
      : [`${name} holds ${dependency}, and depends on ${range} instead of one version`]),
    ...importers.map((file) => `${name} loads ${dependency} in dist/${file}, of which it holds what it uses`),
    ...(existsSync(join(installed, licence)) ? [] : [`${name} lacks ${licence}`]),
  ]
}
