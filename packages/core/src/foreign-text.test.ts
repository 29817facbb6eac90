import { expect, test } from 'vitest'
import { printable } from './foreign-text.ts'

test.each([
  ['plain text', 'Invalid client: "a" (b)', 'Invalid client: "a" (b)'],
  ['letters of every script', 'Ungültig 無効 שגוי', 'Ungültig 無効 שגוי'],
  ['line breaks', 'one\r\ntwo\u2028three\u2029four\u0085five', 'one two three four five'],
  ['control characters', 'a\u0000b\u0007c\u007Fd\u009Fe', 'a b c d e'],
  ['colours of a terminal', '\u001B[31;1mred\u001B[0m \u009B2Kgone', '[31;1mred [0m 2Kgone'],
  ['a title of a terminal', 'a\u001B]0;owned\u0007b', 'a ]0;owned b'],
  ['text that would be read from right to left', 'a\u202Etxt.exe\u2066b\u200Fc', 'a txt.exe b c'],
  ['what is not seen', 'a\u200Bb\uFEFFc\u00ADd', 'a b c d'],
  ['half of a character', 'a\uD83Db', 'a b'],
  ['white space around it', '  \n a  b \t', 'a b'],
])('%s', (_what, text, shown) => {
  expect(printable(text)).toBe(shown)
})

test('text of as many characters as are allowed is shown whole, and one more is cut', () => {
  expect(printable('a'.repeat(200))).toBe('a'.repeat(200))
  expect(printable('a'.repeat(201))).toBe(`${'a'.repeat(200)}…`)
  expect(printable('abcdef', 3)).toBe('abc…')
})

test('no character is cut in half', () => {
  expect(printable('ab😀d', 3)).toBe('ab…')
})

test('900,000 characters are cut without a look at most of them', () => {
  expect(printable('\u0000'.repeat(900_000))).toBe('…')
  expect(printable(`a${'\n'.repeat(900_000)}`).length).toBeLessThan(10)
})
