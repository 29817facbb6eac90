import type { JournalEntry } from '@tokenlane/sandbox'
import { expect, test } from 'vitest'

import { givenUpCalls } from './given-up.ts'

/** Returns a journal of calls with these numbers. */
const journalOf = (
  numbers: readonly number[],
  target: JournalEntry['target'] = 'general-api',
): JournalEntry[] =>
  numbers.map((number, index) => ({
    id: index + 1,
    at: '2026-01-01T00:00:00.000Z',
    target,
    client: 'node',
    connection: 1,
    method: 'GET',
    path: `/records/INV-${String(number).padStart(7, '0')}`,
    token: null,
    status: 200,
    decision: 'answered',
    reason: '',
  }))

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1)

test('as many calls as there are callers may still wait at the end', () => {
  const late = [...upTo(10), ...upTo(30).slice(20)]
  expect(givenUpCalls(journalOf(late))).toEqual([])
  expect(givenUpCalls(journalOf([...late, 32]))).toMatchObject([
    { rule: 'given-up', count: 1, evidence: [11, 21] },
  ])
})

test('the order of arrival and a second arrival make no difference', () => {
  expect(givenUpCalls(journalOf([...upTo(50).toReversed(), 7, 7]))).toEqual([])
})

test('each API has its own numbers', () => {
  expect(givenUpCalls([...journalOf(upTo(40)), ...journalOf(upTo(10), 'weblink-api')])).toEqual([])
})

test('a program that numbers in another way is not judged by it', () => {
  expect(givenUpCalls(journalOf([500, 900]))).toEqual([])
  expect(givenUpCalls([])).toEqual([])
})
