import { join } from 'node:path'
import type { Manifest } from './packages.ts'

/** The clients that have an adapter; `fetch` is installed with Node. */
export const clients = ['axios', 'got', 'ky', 'fetch', 'undici'] as const

/**
 * Returns the line that installs packed packages into an application: the adapter of one client, and for development the
 * command. npm looks for each package that a tarball depends on in its registry, unless it is installed or the same command
 * names its tarball.
 */
export function installLine(
  manifests: readonly Manifest[],
  folder: string,
  client: (typeof clients)[number],
): string {
  const own = withDependencies(manifests, `@tokenlane/${client}`)
  const ofCommand = withDependencies(manifests, 'tokenlane').filter((each) => !own.includes(each))
  const tarballs = (all: readonly Manifest[]): string[] =>
    all.map(({ name, version }) => join(folder, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`))
  const clientItself = client === 'fetch' ? [] : [client]
  const forDevelopment = ['npm install --save-dev', ...tarballs(ofCommand)].join(' ')
  return ['npm install', ...tarballs(own), ...clientItself, '&&', forDevelopment].join(' ')
}

/** Returns a package with those of the workspace that it depends on, directly or not. */
function withDependencies(manifests: readonly Manifest[], ...names: readonly string[]): Manifest[] {
  const needed = new Set(names)
  // what is added is looked at, too
  for (const name of needed)
    for (const dependency of Object.keys(manifests.find((each) => each.name === name)?.dependencies ?? {}))
      needed.add(dependency)
  return manifests.filter(({ name }) => needed.has(name))
}
