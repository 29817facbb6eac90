import { expect, test } from 'vitest'

import { columnsOf, hanging } from './hanging.ts'

test('a text fills its lines to the last column, and later lines stand below its beginning', () => {
  expect(hanging('  fix ', 'one two three four', 6, 13)).toBe('  fix one two\n      three\n      four')
  expect(hanging('  fix ', 'one two three four', 6, 12)).toBe('  fix one\n      two\n      three\n      four')
})

test('a word that is longer than a line has a line of its own, and without a width nothing is broken', () => {
  expect(hanging('- ', 'at https://api.example.com/ now', 2, 12)).toBe(
    '- at\n  https://api.example.com/\n  now',
  )
  expect(hanging('- ', 'at https://api.example.com/ now', 2, Infinity)).toBe(
    '- at https://api.example.com/ now',
  )
})

test.each([
  [40, 40],
  [0, 80],
  [undefined, 80],
])('a terminal that reports %s columns has %s', (columns, expected) => {
  expect(columnsOf(columns === undefined ? {} : { columns }, 80)).toBe(expected)
})
