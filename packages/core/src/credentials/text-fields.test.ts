import { expect, test } from 'vitest'

import { oddityOf, parseIsoDate } from './text-fields.ts'

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

test.each([
  '${SECRET}',
  '$SECRET',
  '{{ secret }}',
  '<your-secret>',
  '[secret]',
  '%SECRET%',
  '***',
  'xxxx',
  'TODO',
  'your-client-secret',
  'YOUR_SECRET',
  'my secret',
  'my-client-id',
  'changeme',
  'change-me-please',
  'replace_this',
])('%s looks like a placeholder', (text) => expect(oddityOf(text)).toBe('placeholder'))

test.each(['"secret"', "'secret'", '`secret`', '"${SECRET}"'])('%s is in quotes', (text) => {
  expect(oddityOf(text)).toBe('quotes')
})

test.each(['two words', 'two\nlines'])('%j has white space in it', (text) => {
  expect(oddityOf(text)).toBe('white space')
})

test.each([
  'n7vZq_1x~P.4kQ8',
  '$2b$10$abc',
  'mysql',
  'my-client',
  'the-shop',
  'yourself',
  'themis',
  '<half',
  '"half',
  'changes',
  '%41%42x',
  'a9$SECRET',
])('%s looks in order', (text) => expect(oddityOf(text)).toBeUndefined())
