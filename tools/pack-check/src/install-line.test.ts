import { expect, test } from 'vitest'
import { installLine } from './install-line.ts'
import { publicPackages, readManifest } from './packages.ts'

test('the line has the tarball of every package that the command and an adapter need, and no other', () => {
  const manifests = publicPackages().map(({ folder }) => readManifest(folder))
  const words = installLine(manifests, '/checkout/tarballs').split(' ')
  expect(words.slice(0, 2)).toEqual(['npm', 'install'])
  expect(words.at(-1)).toBe('axios')
  const { version } = manifests[0] ?? {}
  const tarballs = ['tokenlane', 'tokenlane-axios', 'tokenlane-core', 'tokenlane-fetch', 'tokenlane-sandbox']
  expect(words.slice(2, -1).toSorted()).toEqual(
    tarballs.map((name) => `/checkout/tarballs/${name}-${version}.tgz`).toSorted(),
  )
})
