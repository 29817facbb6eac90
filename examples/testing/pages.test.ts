import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const folder = new URL('.', import.meta.url)
const guide = new URL('../../docs/guide/', import.meta.url)
/** Files that the guide's example holds instead of the page. */
const linked = new Set([
  'records.happy-dom.test.ts',
  'records.jest.ts',
  'records.jsdom.test.ts',
  'records.mock-agent.test.ts',
  'records.msw.test.ts',
  'records.nock.test.ts',
  'records.node.ts',
  'records.timers.test.ts',
])
const files = readdirSync(folder).filter((name) => /^records\b.*\.ts$/.test(name) && !linked.has(name))
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8')

/** The blocks of the guide that name a file of this folder, by its name. */
const blocks = new Map<string, string>()
const text = readFileSync(new URL('test-your-app.md', guide), 'utf8')
for (const [, name = '', code = ''] of text.matchAll(
  /^```ts\n\/\/ (?:[\w-]+: )?(records\b[\w.-]*\.ts)\n(.*?)^```$/gms,
))
  blocks.set(name, code)

test('the guide shows every file that begins with `records` and is not linked, and no other', () => {
  expect([...blocks.keys()].toSorted()).toEqual(files.toSorted())
})

test.each(files)('what the guide shows as %s is the file', (name) => {
  expect(blocks.get(name)).toBe(read(name))
})

test('the file for Jest is that for Vitest with another import', () => {
  expect(read('records.jest.ts')).toBe(read('records.test.ts').replace("'vitest'", "'@jest/globals'"))
})
