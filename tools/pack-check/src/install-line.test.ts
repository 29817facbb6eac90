import { expect, test } from 'vitest'
import { clients, installLine } from './install-line.ts'
import { publicPackages, readManifest } from './packages.ts'

test.each(clients)(
  'the line for %s has the tarball of every package that its adapter and, for development, the command need, and no other',
  (client) => {
    const manifests = publicPackages().map(({ folder }) => readManifest(folder))
    const { version } = manifests[0] ?? {}
    const tarballs = (names: readonly string[]): string[] =>
      names.map((name) => `/checkout/tarballs/tokenlane${name && `-${name}`}-${version}.tgz`)
    const [install, develop] = installLine(manifests, '/checkout/tarballs', client).split(' && ')
    expect(install?.split(' ').toSorted()).toEqual(
      ['npm', 'install', ...tarballs(['core', client]), ...(client === 'fetch' ? [] : [client])].toSorted(),
    )
    const others = client === 'fetch' ? [''] : ['', 'fetch']
    expect(develop?.split(' ').toSorted()).toEqual(
      ['npm', 'install', '--save-dev', ...tarballs([...others, 'sandbox'])].toSorted(),
    )
  },
)
