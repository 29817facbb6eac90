import { expect, test } from 'vitest'
import { indexOptions, searchable, searchOptions } from './search.ts'

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

test('a query for an error code asks for it as a whole, a parameter is also found by its parts', () => {
  expect(searchOptions.tokenize('QUEUE_TIMEOUT invalid_client')).toEqual(['QUEUE_TIMEOUT', 'invalid_client'])
  expect(indexOptions.tokenize('QUEUE_TIMEOUT')).toEqual(['QUEUE_TIMEOUT'])
  expect(indexOptions.tokenize('invalid_client')).toEqual(['invalid_client', 'invalid', 'client'])
})

test('a plural finds its singular', () => {
  const found = (words: string): (string | null)[] => words.split(' ').map(indexOptions.processTerm)
  expect(found('logs processes proxies access status https')).toEqual(
    found('log process proxie access status http'),
  )
  expect(found('how the Tokens')).toEqual([null, null, 'token'])
})

test('a page that a word names weighs more, and what troubleshoots weighs more than what lists', () => {
  const weight = searchOptions.boostDocument
  expect(weight('/packages/ky.html#in-tests', 'ky')).toBeGreaterThan(weight('/guide/bootstrap.html#ky', 'ky'))
  expect(weight('/guide/troubleshoot.html#a', 'x')).toBeGreaterThan(weight('/guide/options.html#a', 'x'))
})
