import { expect, test } from 'vitest'

import { oddityOf } from './odd-text.ts'

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
  'yourself',
  'themis',
  '<half',
  '"half',
  'changes',
  '%41%42x',
  'a9$SECRET',
])('%s looks in order', (text) => expect(oddityOf(text)).toBeUndefined())
