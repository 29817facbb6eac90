import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

// docs/support.md is what packages ask for, and what the tests run with.

interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly engines?: { readonly node?: string }
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const root = new URL('../../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const page = read('docs/support.md')
const published = readdirSync(new URL('packages/', root))
  .map((name) => JSON.parse(read(`packages/${name}/package.json`)) as Manifest)
  .filter((manifest) => manifest.private !== true)
const { catalog } = parse(read('pnpm-workspace.yaml')) as { catalog: Readonly<Record<string, string>> }

/** Rows of the table whose header begins with `first`, without code marks and escapes. */
function rows(first: string): string[][] {
  const [, body = ''] = new RegExp(`^\\| ${first} .*\\n\\|[ -|]+\\n((?:\\|.*\\n)+)`, 'm').exec(page) ?? []
  return body
    .trim()
    .split('\n')
    .map((line) =>
      line
        .replaceAll('`', '')
        .split(/(?<!\\)\|/)
        .slice(1, -1),
    )
    .map((cells) => cells.map((cell) => cell.trim().replaceAll('\\|', '|')))
}

test('the lines of Node.js are those of `engines`, of every package and of the workspace', () => {
  const lines = rows('Node\\.js').map(([, from]) => `^${from}`)
  const range = [...lines.slice(0, -1), lines.at(-1)?.replace('^', '>=')].join(' || ')
  for (const { name, engines } of [...published, JSON.parse(read('package.json')) as Manifest])
    expect({ name, node: engines?.node }).toEqual({ name, node: range })
})

test('the clients are those that packages ask for, in the versions that the tests run with', () => {
  const asked = published.flatMap(({ name, peerDependencies = {} }) =>
    Object.entries(peerDependencies).map(([client, range]) => {
      const proven = Object.keys(catalog)
        .filter((key) => key === client || (/^[a-z]+-\d+$/.test(key) && key.startsWith(`${client}-`)))
        .map((key) => catalog[key]?.replace(/^npm:.*@/, '') ?? '')
        .filter((version) => allows(range, version))
      return [name, client, range, newestOfEach(proven).join(', ')]
    }),
  )
  expect(new Set(rows('package').map(String))).toEqual(new Set(asked.map(String)))
})

test('the versions that the conformance suite plays are those of the catalog', () => {
  const played = rows('client').filter(([client]) => client !== 'fetch')
  const expected = played.map(([client = '']) => {
    const { peerDependencies } = published.find(({ name }) => name === `@tokenlane/${client}`)!
    const range = peerDependencies?.[client] ?? ''
    const versions = Object.keys(catalog)
      .filter((key) => key === client || new RegExp(`^${client}-[\\d.]+$`).test(key))
      .map((key) => catalog[key]?.replace(/^npm:.*@/, '') ?? '')
      .filter((version) =>
        range.split(' || ').some((part) => allows(part, version) && byVersion(part.slice(1), version) <= 0),
      )
    return [client, versions.toSorted(byVersion).join(', ')]
  })
  expect(played.map(([client, versions]) => [client, versions])).toEqual(expected)
})

/** Whether a range of carets, or one with a lowest major version, allows a version. */
function allows(range: string, version: string): boolean {
  const major = Number.parseInt(version, 10)
  return range
    .split(' || ')
    .some((part) =>
      part.startsWith('^') ? part.startsWith(`^${major}.`) : major >= Number.parseInt(part.slice(2), 10),
    )
}

/** The newest version of a client, or that of each major version which a key of the catalog of its own has. */
function newestOfEach(versions: readonly string[]): string[] {
  const newest = new Map<number, string>()
  for (const version of versions) {
    const major = Number.parseInt(version, 10)
    if (version.localeCompare(newest.get(major) ?? '0', 'en', { numeric: true }) > 0)
      newest.set(major, version)
  }
  return [...newest.values()].toSorted(byVersion)
}

function byVersion(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true })
}
