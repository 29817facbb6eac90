import markdownIt from 'markdown-it'
import { expect, test } from 'vitest'
import { optionAnchors, optionSections } from './options.ts'

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

test('the index has a section for each option of the guide, behind the section that lists it', () => {
  const html = `<h2>A</h2>${drawn('| option | does |\n| --- | --- |\n| `a 5`, `b` | x |\n')}<p>y</p><h2>B</h2>`
  expect(optionSections(html, 'packages/a.md')).toBe(html)
  const sections = optionSections(html, 'guide/a.md').split(/(?=<h)/)
  expect(sections.map((section) => section.replaceAll(/<[^>]+>|\s/g, ''))).toEqual([
    'Aoptiondoesa5,bxy',
    'a5,bx',
    'bx',
    'B',
  ])
  expect(sections[2]).toMatch(/^<h6>b <a href="#b"><\/a><\/h6>/)
})
