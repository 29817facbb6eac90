import { join } from 'node:path'
import type { Manifest } from './packages.ts'

/** The clients that have an adapter; `fetch` is installed with Node. */
export const clients = ['axios', 'got', 'ky', 'fetch', 'undici'] as const

/**
 * Returns the one command that installs packed packages into an application, the adapter of one client and the command: npm
 * looks for each package that a tarball depends on in its registry, unless the same command names its tarball.
 */
export function installLine(
  manifests: readonly Manifest[],
  folder: string,
  client: (typeof clients)[number],
): string {
  const names = new Set([`@tokenlane/${client}`, 'tokenlane'])
  // what is added is looked at, too
  for (const name of names) {
    const { dependencies = {} } = manifests.find((each) => each.name === name) ?? {}
    for (const dependency of Object.keys(dependencies))
      if (manifests.some((each) => each.name === dependency)) names.add(dependency)
  }
  const tarballs = manifests
    .filter(({ name }) => names.has(name))
    .map(({ name, version }) => join(folder, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`))
  return ['npm install', ...tarballs, ...(client === 'fetch' ? [] : [client])].join(' ')
}
