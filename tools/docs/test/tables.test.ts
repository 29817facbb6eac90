import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { frontText, withComparisons } from '../../../bench/support/page.ts'
import { root } from './blocks.ts'

const pages = globSync(
  ['*.md', 'docs/**/*.md', '{packages,examples}/*/README.md', '{bench,examples}/README.md'],
  {
    cwd: fileURLToPath(root),
    exclude: ['**/node_modules/**'],
  },
)

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

test('docs/benchmarks.md has the figures of docs/measurements.md', () => {
  const front = readFileSync(new URL('docs/benchmarks.md', root), 'utf8')
  expect(squeezed(front).trim()).toBe(squeezed(frontText()).trim())
})

test('README.md has the figures of docs/measurements.md', () => {
  const readme = readFileSync(new URL('README.md', root), 'utf8')
  expect(squeezed(readme)).toBe(squeezed(withComparisons(readme)))
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
