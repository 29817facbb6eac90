import { readdirSync, readFileSync } from 'node:fs'
import { createRequire, findPackageJSON } from 'node:module'

import { expect, test } from 'vitest'

// What a user of the suite installs with it, as SECURITY.md says.

const root = new URL('../../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly scripts?: Readonly<Record<string, string>>
}

/** For machines that run tests, not for those that run the application. */
const tools = new Set(['@tokenlane/sandbox', '@tokenlane/conformance', 'tokenlane'])

const folders = readdirSync(new URL('packages/', root)).map((name) => `packages/${name}/package.json`)
const published = folders
  .map((path) => ({ path, manifest: JSON.parse(read(path)) as Manifest }))
  .filter(({ manifest }) => manifest.private !== true)

const runtime = published
  .filter(({ manifest }) => !tools.has(manifest.name))
  .flatMap(({ path, manifest }) =>
    Object.keys(manifest.dependencies ?? {})
      .filter((name) => !name.startsWith('@tokenlane/'))
      .map((name) => ({ name, path })),
  )

test('the runtime dependencies are those that SECURITY.md justifies', () => {
  const justified = [...read('SECURITY.md').matchAll(/^\| `([^`]+)` +\| `@tokenlane\/[a-z]+` +\|/gm)].map(
    ([, name]) => name,
  )
  expect(new Set(runtime.map(({ name }) => name))).toEqual(new Set(justified))
})

test.each(runtime)('$name has no dependencies and runs nothing when it is installed', ({ name, path }) => {
  const from = new URL(path, root)
  const manifest = JSON.parse(
    readFileSync(findPackageJSON(name, from) ?? createRequire(from).resolve(`${name}/package.json`), 'utf8'),
  ) as Manifest
  expect(Object.keys(manifest.dependencies ?? {})).toEqual([])
  expect(
    Object.keys(manifest.scripts ?? {}).filter((script) => /^(?:pre|post)?install$/.test(script)),
  ).toEqual([])
})

test.each(published)('$manifest.name runs nothing when it is installed', ({ manifest }) => {
  expect(manifest.scripts).toBeUndefined()
})

test('nothing that is installed to develop may run a script then, and all of it is known by its hash', () => {
  const [, builds] = /^allowBuilds:\n((?: {2}.*\n)+)/m.exec(read('pnpm-workspace.yaml')) ?? []
  expect(builds).toMatch(/^(?: {2}\S+: false\n)+$/)
  const resolutions = [...read('pnpm-lock.yaml').matchAll(/^ {4}resolution: (.*)$/gm)].map(([, how]) => how)
  expect(resolutions.length).toBeGreaterThan(100)
  expect(
    resolutions.filter((how) => !/^\{integrity: sha512-[\w+/=]+(?:, [^}]*)?\}$/.test(how ?? '')),
  ).toEqual([])
})
