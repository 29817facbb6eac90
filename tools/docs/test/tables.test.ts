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

const results = tablesIn(readFileSync(new URL('bench/results.md', root), 'utf8')).flatMap(({ rows }) => rows)

/** Whether a way of the benchmarks has this figure somewhere, alone or before its range. */
function isMeasured(way: string, figure: string): boolean {
  const name = way.trim().replaceAll('**', '')
  return results.some(
    ([first = '', ...cells]) =>
      first.trim().includes(name) &&
      cells.some((cell) => new RegExp(`(?:^|[( ])${figure}(?:$|[) ])`).test(cell)),
  )
}

test('docs/compare.md has the figures of bench/results.md', () => {
  const rows = tablesIn(readFileSync(new URL('docs/compare.md', root), 'utf8')).flatMap((table) => table.rows)
  expect(rows.length).toBeGreaterThan(20)
  const wrong = rows.filter(([way = '', ...cells]) => !cells.every((cell) => isMeasured(way, cell.trim())))
  expect(wrong).toEqual([])
})

test('the table of README.md has the figures of bench/results.md', () => {
  const [, compared = ''] = readFileSync(new URL('README.md', root), 'utf8').split('## Compared')
  const [table] = tablesIn(compared)
  const figures = (table?.rows ?? []).flatMap(([way = '', requests, lost, share, accepted, refused]) => {
    const [client = ''] = way.trim().split(', ')
    // a way that is no queue has no figures of one
    const ofQuota = accepted?.trim() === '–' ? accepted : (Number(accepted) / 25).toFixed(2)
    const ofTokens = [requests, lost, share].map((figure) => [client, figure?.trim()] as const)
    return ofTokens.concat([ofQuota, refused].map((figure) => [way, figure?.trim()] as const))
  })
  const given = figures.filter(([, figure]) => figure !== '–')
  expect(given.length).toBeGreaterThan(15)
  expect(given.filter(([way, figure = '']) => !isMeasured(way, figure))).toEqual([])
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
