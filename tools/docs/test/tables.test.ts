import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { root } from './blocks.ts'

const pages = globSync(['*.md', 'docs/**/*.md', '{packages,examples}/*/README.md', '{bench,examples}/*.md'], {
  cwd: fileURLToPath(root),
  exclude: ['**/node_modules/**'],
})

/** Returns a text without what fills the cells of its tables. */
const squeezed = (text: string): string => text.replaceAll(/ {2,}/g, ' ').replaceAll(/-{3,}/g, '---')

test.each(pages)('no row of a table in %s is wider than 160 characters', (page) => {
  const lines = squeezed(readFileSync(new URL(page, root), 'utf8')).split('\n')
  expect(lines.filter((line) => line.startsWith('|') && line.length > 160)).toEqual([])
})

test.each(pages)('no command in %s writes to a file what npm says on standard output', (page) => {
  const lines = readFileSync(new URL(page, root), 'utf8').split('\n')
  expect(lines.filter((line) => /^npm run (?!-s ).* > /.test(line))).toEqual([])
})

test.each(['core', 'redis', 'sandbox'])('the README of %s has at most 150 lines', (name) => {
  const lines = readFileSync(new URL(`packages/${name}/README.md`, root), 'utf8').split('\n')
  expect(lines.length).toBeLessThanOrEqual(150)
})

/** Returns the cells of each row of the tables in a text, and the heads of their columns. */
function tablesIn(text: string): { head: string[]; rows: string[][] }[] {
  return Array.from(squeezed(text).matchAll(/(?:^\|.+\|\n)+/gm), ([table]) => {
    const [head = [], , ...rows] = table
      .trim()
      .split('\n')
      .map((line) => line.slice(2, -2).split(' | '))
    return { head, rows }
  })
}

const results = tablesIn(readFileSync(new URL('bench/results.md', root), 'utf8'))

/** Returns what a way has in a column of the nth table of the benchmarks that has such a column. */
function measured(way: string, column: string, nth = 0): string | undefined {
  const table = results.filter(({ head }) => head.some((name) => name.trim() === column))[nth]
  const row = table?.rows.find(([name]) => name?.trim() === way)
  return row?.[table?.head.findIndex((name) => name.trim() === column) ?? -1]?.trim()
}

/** What a column of Compare is called in the results, and in which of the tables that have such a column. */
const columns: Readonly<Record<string, readonly [string, number]>> = {
  'requests, at once': ['first calls', 0],
  'requests, 30 s': ['30 s down', 0],
  'lost, at once': ['first calls', 1],
  'lost, revoked': ['revoked', 1],
  'lost, 2 s, %': ['2 s down, %', 0],
  'lost, 30 s, %': ['30 s down, %', 0],
  'lost, %': ['calls lost, %', 0],
  'CPU, first row = 1': ['CPU time', 1],
  'CPU, ms': ['ms of CPU', 1],
  'time, ms': ['ms', 0],
}

test('docs/compare.md has the figures of bench/results.md', () => {
  const tables = tablesIn(readFileSync(new URL('docs/compare.md', root), 'utf8'))
  const cells = tables.flatMap(({ head, rows }) =>
    rows.flatMap(([way = '', ...figures]) =>
      figures.map((figure, at) => ({
        way: way.trim().replaceAll('**', ''),
        column: head[at + 1]?.trim() ?? '',
        figure: figure.trim(),
      })),
    ),
  )
  expect(cells.length).toBeGreaterThan(100)
  const wrong = cells.filter(
    ({ way, column, figure }) => measured(way, ...(columns[column] ?? [column, 0])) !== figure,
  )
  expect(wrong).toEqual([])
})

test('docs/compare.md says by how much Tokenlane loses, in the figures of bench/results.md', () => {
  const more = (ratio = ''): string => `${Math.round(100 * Number.parseFloat(ratio)) - 100}%`
  const [axios, , , fetch] = Array.from({ length: 5 }, (_, nth) =>
    more(measured('Tokenlane', 'vs. wrapper', nth)),
  )
  const ofCall = `A call takes ${fetch} (fetch) to ${axios} (axios) more CPU than a wrapper by hand`
  expect(readFileSync(new URL('README.md', root), 'utf8').replaceAll('\n', ' ')).toContain(ofCall)
  const page = readFileSync(new URL('docs/compare.md', root), 'utf8')
  for (const claim of [
    ofCall,
    `first call of a process takes ${more(measured('@tokenlane/core and @tokenlane/fetch', 'CPU time', 1))} more`,
    `queued call takes ${measured('Tokenlane', 'add + drain')} times`,
    `${measured('Tokenlane', '30 s down')} times in 30 s instead of ${measured('by hand: single flight', '30 s down')}`,
    `leaves ${more(String(2 - Number(measured('Tokenlane, strict', '2 s'))))} of a quota unused`,
  ])
    expect(page).toContain(claim)
})

test('the table of README.md has the figures of bench/results.md', () => {
  const [, compared = ''] = readFileSync(new URL('README.md', root), 'utf8').split('## Compared')
  const [table] = tablesIn(compared)
  const figures = (table?.rows ?? []).flatMap(([name = '', requests, lost, share, accepted, refused]) => {
    const way = name.trim().replaceAll('**', '')
    const [client = ''] = way.split(', ')
    return [
      [requests, measured(client, 'first calls')],
      [lost, measured(client, 'revoked', 1)],
      [share, measured(client, '2 s down, %')],
      [accepted, (25 * Number(measured(way, '2 s'))).toFixed(1)],
      [refused, measured(way, '2 s', 1)],
    ].map(([figure, expected]) => ({ way, figure: figure?.trim(), expected }))
  })
  // a way that is no queue has no figures of one
  const given = figures.filter(({ figure }) => figure !== '–')
  expect(given.length).toBeGreaterThan(15)
  expect(given.filter(({ figure, expected }) => figure !== expected)).toEqual([])
})

test('docs/guide/troubleshoot.md names log lines in the words that are written', () => {
  const page = readFileSync(new URL('docs/guide/troubleshoot.md', root), 'utf8')
  const source = readFileSync(new URL('packages/core/src/log-observer.ts', root), 'utf8')
  const [, section = ''] = /\n### Log lines\n(.*?)\n### /s.exec(page) ?? []
  const cells = section.split('\n').map((row) => (row.startsWith('| `') ? row.split(' | ')[0] : ''))
  const lines = Array.from(cells.join().matchAll(/`([^`]+)`/g), ([, line = '']) =>
    line.replace('CODE', '${code}'),
  )
  expect(lines.length).toBeGreaterThan(9)
  expect(lines.filter((line) => !source.includes(line))).toEqual([])
})
