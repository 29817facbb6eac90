import markdownIt from 'markdown-it'
import { expect, test } from 'vitest'
import { optionAnchors } from './options.ts'

const drawn = (text: string): string => {
  const md = markdownIt()
  optionAnchors(md as never)
  return md.render(text)
}

test('each option of a table is a link to itself, and no two have the same anchor', () => {
  const html = drawn(
    '| option | `a` |\n| --- | --- |\n| `maxWait 5` | `b` |\n| `scope`, `parameters` | c |\n| `maxWait` | d |\n',
  )
  expect(
    Array.from(html.matchAll(/<a id="([^"]+)" href="#\1"><code>(\w+)/g), ([, ...found]) => found),
  ).toEqual([
    ['maxwait', 'maxWait'],
    ['scope', 'scope'],
    ['parameters', 'parameters'],
    ['maxwait-1', 'maxWait'],
  ])
})

test('other tables have no links', () => {
  expect(drawn('| code |\n| --- |\n| `A` |\n')).not.toContain('<a')
})
