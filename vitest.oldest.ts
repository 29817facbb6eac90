// The conformance suite with the oldest version of each client that its adapter's `peerDependencies` allow.
import { readFileSync } from 'node:fs'

import { defineConfig, type TestProjectConfiguration } from 'vitest/config'

interface Manifest {
  readonly version: string
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const read = (path: string): Manifest => JSON.parse(readFileSync(path, 'utf8')) as Manifest

/** What a test imports, the name under which its adapter has the oldest version of it installed, and the test. */
const oldest = [
  { client: 'axios', imported: 'axios', alias: 'axios-1.7', file: 'conformance' },
  { client: 'got', imported: 'got', alias: 'got-15', file: 'conformance' },
  { client: 'ky', imported: 'ky', alias: 'ky-2', file: 'conformance' },
  { client: 'undici', imported: 'undici', alias: 'undici-7.0', file: 'conformance-7' },
  { client: 'undici', imported: 'undici-8', alias: 'undici-8.0', file: 'conformance' },
] as const

const projects = oldest.map(({ client, imported, alias, file }): TestProjectConfiguration => {
  const folder = `packages/${client}`
  const range = read(`${folder}/package.json`).peerDependencies?.[client] ?? ''
  const { version } = read(`${folder}/node_modules/${alias}/package.json`)
  if (!range.split(' || ').includes(`^${version}`))
    throw new Error(`${folder} allows ${client} ${range}, and ${alias} is ${version}: install the oldest`)
  return {
    root: folder,
    resolve: { alias: [{ find: new RegExp(`^${imported}(?=$|/)`), replacement: alias }] },
    test: { name: `${client} ${version}`, include: [`test/${file}.test.ts`] },
  }
})

export default defineConfig({ test: { projects } })
