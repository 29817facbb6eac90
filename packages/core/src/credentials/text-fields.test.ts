import { expect, test } from 'vitest'
import { parseIsoDate } from './text-fields.ts'

test.each([
  ['2026-11-21', '2026-11-21T00:00:00.000Z'],
  ['2026-11-21T08:30Z', '2026-11-21T08:30:00.000Z'],
  ['2026-11-21T08:30:15.250+01:00', '2026-11-21T07:30:15.250Z'],
])('%s is %s', (text, expected) => {
  expect(parseIsoDate(text).toISOString()).toBe(expected)
})

test.each([
  '',
  'yesterday',
  '2026',
  '1 Nov 2026',
  '11/21/2026',
  '2026-13-01',
  '2026-02-30',
  '2026-02-30T08:30Z',
  '1795305600000',
  '2026-11-21 ',
])('%j is not an ISO 8601 date', (text) => {
  expect(parseIsoDate(text).getTime()).toBeNaN()
})
