import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

import { programs } from '../../../scripts/system-packages.ts'

// `npm test` runs `*.test.ts`; `npm run test:all` runs `*.long.ts` too, and the tests of the examples.

const root = fileURLToPath(new URL('../../../', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const sources = globSync('{packages,tools,site,bench,scripts}/**/*.ts', {
  cwd: root,
  exclude: (path) => /(?:^|\/)(?:node_modules|dist|generated|\.vitepress)$/.test(path),
}).map((path) => path.replaceAll('\\', '/'))
const own = relative(root, fileURLToPath(import.meta.url)).replaceAll('\\', '/')
const tests = sources.filter((path) => /\.(?:test|long)\.ts$/.test(path) && path !== own)
const long = tests.filter((path) => path.endsWith('.long.ts'))

test.each(long)('%s says in its first line what makes it long', (path) => {
  expect(read(path)).toMatch(/^\/\/ Long: \S.*\.\n/)
})

test('a file that registers tests of its own ends with .test.ts or .long.ts', () => {
  const others = sources.filter(
    (path) => ![...tests, own].includes(path) && /^(?:test|describe)(?:\.\w+)*\(/m.test(read(path)),
  )
  expect(others).toEqual([])
})

/** What starts a program that npm does not have. */
const starters: Readonly<Record<string, RegExp>> = {
  'redis-server': /tools\/testing\/src\/redis-server\.ts$/,
  prometheus: /tools\/testing\/src\/prometheus-server\.ts$|'promtool'/,
  chromium: /\/chromium\.ts$/,
  python3: /'python3'/,
  'python3-authlib python3-flask': /'authlib-server\.py'/,
  'python3-django-oauth-toolkit': /'django-server\.py'/,
  'glewlwyd dbconfig-sqlite3': /'glewlwyd'/,
}

const globsOf = (name: string): readonly string[] =>
  programs.find(({ debianPackage }) => debianPackage === name)?.tests ?? []

test.each(Object.entries(starters))(
  'a machine without %s leaves out the tests that start it',
  (name, starter) => {
    const named = new Set(
      globSync([...globsOf(name)], { cwd: root }).map((path) => path.replaceAll('\\', '/')),
    )
    expect(tests.filter((path) => !named.has(path) && starts(path, starter))).toEqual([])
  },
)

test('`npm test` needs no program but Redis', () => {
  const others = programs.filter(({ debianPackage }) => debianPackage !== 'redis-server')
  expect(others.flatMap((program) => program.tests).filter((glob) => !glob.endsWith('.long.ts'))).toEqual([])
})

/** Whether a test, or what it imports, starts a program. */
function starts(path: string, starter: RegExp): boolean {
  const seen = new Set([path])
  for (const each of seen) for (const file of importsOf(each)) seen.add(file)
  return starter.test(read(path)) || [...seen].some((file) => starter.test(file))
}

const known = new Map<string, readonly string[]>()

/** The relative imports of a file, and those of helpers of the tests. */
function importsOf(path: string): readonly string[] {
  const imports =
    known.get(path) ??
    Array.from(read(path).matchAll(/(?:from|import) '([^']+)'/g), ([, name = '']) =>
      fileOf(path, name),
    ).filter((file) => file !== undefined)
  known.set(path, imports)
  return imports
}

function fileOf(from: string, name: string): string | undefined {
  const path = name.startsWith('@tokenlane/testing/')
    ? name.replace('@tokenlane/testing', 'tools/testing/src').concat('.ts')
    : name.startsWith('.')
      ? relative(root, join(root, dirname(from), name)).replaceAll('\\', '/')
      : ''
  return path !== '' && existsSync(join(root, path)) ? path : undefined
}
