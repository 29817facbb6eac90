import { expect, test } from 'vitest'
import { clients, installLine } from './install-line.ts'
import { publicPackages, readManifest } from './packages.ts'

test.each(clients)(
  'the line for %s has the tarball of every package that its adapter and the command need, and no other',
  (client) => {
    const manifests = publicPackages().map(({ folder }) => readManifest(folder))
    const words = installLine(manifests, '/checkout/tarballs', client).split(' ')
    expect(words.slice(0, 2)).toEqual(['npm', 'install'])
    const { version } = manifests[0] ?? {}
    const names = new Set([
      'tokenlane',
      'tokenlane-core',
      'tokenlane-fetch',
      'tokenlane-sandbox',
      `tokenlane-${client}`,
    ])
    const tarballs = Array.from(names, (name) => `/checkout/tarballs/${name}-${version}.tgz`)
    expect(words.slice(2).toSorted()).toEqual(
      [...tarballs, ...(client === 'fetch' ? [] : [client])].toSorted(),
    )
  },
)
