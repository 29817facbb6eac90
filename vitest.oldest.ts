// The conformance suite with the oldest version of each client that its adapter's `peerDependencies` allow.
import { readFileSync } from 'node:fs'

import { defineConfig, type TestProjectConfiguration } from 'vitest/config'

interface Manifest {
  readonly version: string
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const read = (path: string): Manifest => JSON.parse(readFileSync(path, 'utf8')) as Manifest

/** By client: the name under which its adapter has the oldest version installed. */
const oldest = { axios: 'axios-1.7', got: 'got-15', ky: 'ky-2' } as const

const projects = Object.entries(oldest).map(([client, alias]): TestProjectConfiguration => {
  const folder = `packages/${client}`
  const range = read(`${folder}/package.json`).peerDependencies?.[client] ?? ''
  const { version } = read(`${folder}/node_modules/${alias}/package.json`)
  if (!range.startsWith(`^${version}`))
    throw new Error(`${folder} allows ${client} ${range}, and ${alias} is ${version}: install the oldest`)
  return {
    root: folder,
    resolve: { alias: [{ find: new RegExp(`^${client}$`), replacement: alias }] },
    test: { name: `${client} ${version}`, include: ['test/conformance.test.ts'] },
  }
})

export default defineConfig({ test: { projects } })
