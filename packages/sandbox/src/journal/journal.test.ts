import { expect, test } from 'vitest'

import type { JournalEntry } from './entry.ts'
import { Journal } from './journal.ts'

const request = (changed: Partial<JournalEntry> = {}): Omit<JournalEntry, 'id'> => ({
  at: '2026-01-01T00:00:00.000Z',
  target: 'general-api',
  client: 'node',
  connection: 1,
  method: 'GET',
  path: '/records',
  token: 'general-1',
  status: 200,
  decision: 'answered',
  reason: 'live token, 3,600 s left',
  ...changed,
})

test('entries are numbered from 1, in order', () => {
  const journal = new Journal(10)
  journal.add(request())
  journal.add(request())
  expect(journal.entries().map(({ id }) => id)).toEqual([1, 2])
})

test('a full journal drops its oldest entry, but none that is evidence', () => {
  const journal = new Journal(3)
  journal.add(request())
  journal.keep(1)
  for (let more = 0; more < 3; more += 1) journal.add(request())
  expect(journal.entries().map(({ id }) => id)).toEqual([1, 2, 3, 4])
  expect(journal.counts().dropped).toBe(0)
  journal.add(request())
  expect(journal.entries().map(({ id }) => id)).toEqual([1, 3, 4, 5])
  expect(journal.counts().dropped).toBe(1)
})

test('a filter has to match in all of its fields', () => {
  const journal = new Journal(10)
  journal.add(request({ status: 401, decision: 'refused' }))
  journal.add(request({ status: 401, decision: 'refused', target: 'weblink-api' }))
  journal.add(request({ client: 'curl/8.5.0' }))
  const ids = (filter: Parameters<typeof journal.entries>[0]) => journal.entries(filter).map(({ id }) => id)
  expect(ids({ status: 401 })).toEqual([1, 2])
  expect(ids({ status: 401, target: 'weblink-api' })).toEqual([2])
  expect(ids({ client: 'curl/8.5.0' })).toEqual([3])
  expect(ids({ after: 1 })).toEqual([2, 3])
  expect(ids({ limit: 1 })).toEqual([3])
  expect(ids({ id: 2 })).toEqual([2])
})

test('a listener hears of every new entry until it ends', () => {
  const journal = new Journal(10)
  const heard: number[] = []
  const unlisten = journal.listen(({ id }) => heard.push(id))
  journal.add(request())
  unlisten()
  journal.add(request())
  expect(heard).toEqual([1])
})
