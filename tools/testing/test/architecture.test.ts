import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const core = join(root, 'packages/core/src')
const map = readFileSync(join(root, 'docs/architecture.md'), 'utf8')

/** The map, and what CONTRIBUTING says about where to change what. */
const named = map + readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').split('\n## Where to change')[1]

/** The rows of the table of rooms, from top to bottom: folders end with a slash. */
const rows = Array.from(map.matchAll(/^\| `([\w-]+(?:\/|\.ts))` +\| \S/gm), ([, name = '']) => name)

const sources = readdirSync(core, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts') && !/\.(?:test|long)\.ts$/.test(path))

/** The row that a source file belongs to. */
const rowOf = (path: string): string => (path.includes('/') ? `${path.split('/')[0]}/` : path)

const imports = sources.flatMap((from) =>
  Array.from(readFileSync(join(core, from), 'utf8').matchAll(/\bfrom '(\.[^']+)'/g), ([, path = '']) => ({
    from,
    to: relative(core, join(core, dirname(from), path)).replaceAll('\\', '/'),
  })),
)

test('the map names every folder and file at the top of core, and nothing else', () => {
  expect(rows.toSorted()).toEqual([...new Set(sources.map(rowOf))].toSorted())
})

test('at the top of core lie at most a dozen files', () => {
  expect(rows.filter((row) => row.endsWith('.ts')).length).toBeLessThanOrEqual(12)
})

test('a room imports only from rooms that stand below it on the map', () => {
  const upwards = imports.filter(({ from, to }) => rows.indexOf(rowOf(from)) > rows.indexOf(rowOf(to)))
  expect(upwards).toEqual([])
})

test.each(Array.from(named.matchAll(/`((?:[\w-]+\/)+[\w-]+\.ts)`/g), ([, path = '']) => path))(
  'the file %s, which the map names, exists',
  (path) => {
    expect(() => readFileSync(join(/^(?:packages|tools)\//.test(path) ? root : core, path))).not.toThrow()
  },
)

test.each(
  Array.from(named.matchAll(/`((?:[\w-]+\/)+[\w-]+\.ts)`[,:] `([#\w]+)`/g), ([, path = '', name = '']) => [
    path,
    name,
  ]),
)('the file %s has the name %s, which the map gives', (path, name) => {
  expect(readFileSync(join(/^(?:packages|tools)\//.test(path) ? root : core, path), 'utf8')).toContain(name)
})

test('the picture of the packages shows what each depends on', () => {
  const drawn = Array.from(
    map.matchAll(/^ {2}\w+\["(@?[\w/]+)"\] --> \w+\["(@?[\w/]+)"\]/gm),
    ([, from, to]) => `${from} -> ${to}`,
  )
  const manifests = readdirSync(join(root, 'packages')).flatMap((folder) => {
    try {
      return [JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8')) as Manifest]
    } catch {
      return []
    }
  })
  const depends = manifests.flatMap(({ name, dependencies = {} }) =>
    Object.keys(dependencies)
      .filter((other) => manifests.some((manifest) => manifest.name === other))
      .map((other) => `${name} -> ${other}`),
  )
  expect(drawn.toSorted()).toEqual(depends.toSorted())
})

interface Manifest {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
}
