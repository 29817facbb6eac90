import markdownIt from 'markdown-it'
import { expect, test } from 'vitest'
import { frames } from './frames.ts'

const drawn = (text: string): string => {
  const md = markdownIt()
  frames(md as never)
  return md.render(text)
}

test('a cell knows the head of its column, so that a phone can show it above the cell', () => {
  const html = drawn('| code | cause | what to do |\n| --- | --- | --- |\n| `A` | a | Do *this* |\n')
  expect(html).toContain(
    '<td><code>A</code></td>\n<td data-head="cause">a</td>\n<td data-head="what to do">Do',
  )
})

test('the only column beside the first needs no head on a phone', () => {
  expect(drawn('| option | meaning |\n| --- | --- |\n| `A` | a |\n')).not.toContain('data-head')
})

test('a table with a long cell is one of sentences, one of figures is not', () => {
  expect(drawn(`| a | b |\n| --- | --- |\n| a | ${'b'.repeat(41)} |\n`)).toMatch(
    /^<div class="frame sentences"/,
  )
  expect(drawn(`| a | b |\n| --- | --- |\n| ${'a'.repeat(41)} | 1 |\n`)).toMatch(
    /^<div class="frame" tabindex="0">/,
  )
})

test('an empty head is a plain cell', () => {
  expect(drawn('|   | b |\n| --- | --- |\n| a | 1 |\n')).toContain('<td></td>\n<th>b</th>')
})
