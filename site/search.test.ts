import { expect, test } from 'vitest'
import { searchable } from './search.ts'

test('a section is found by words that it does not have', () => {
  expect(searchable('# Behind a proxy\n\nText.\n', 'guide/proxy.md')).toMatch(/^# Behind a proxy\n\nEACCES/)
})

test('words for a heading that is gone are an error', () => {
  expect(() => searchable('# Proxies\n', 'guide/proxy.md')).toThrow('no heading "Behind a proxy"')
})

test('of the reference only the title is found, of a table of measurements the headings', () => {
  expect(searchable('# Function: a\n\nText.\n', 'reference/a.md')).toBe('# Function: a')
  expect(searchable('# Tables\n\nText.\n\n## Storms\n', 'measurements.md')).toBe('# Tables\n\n## Storms')
})
