import { expect, test } from 'vitest'
import { contents } from './sidebar.ts'

test('pages stand in the order of the page that lists them, below its headings', () => {
  expect(
    contents('# Guide\n\n## Start\n\n1. [`a`](/guide/a.md)\n2. [b](/guide/b.md) too\n', 'guide'),
  ).toEqual([
    {
      text: 'Start',
      items: [
        { text: 'a', link: '/guide/a' },
        { text: 'b', link: '/guide/b' },
      ],
    },
  ])
})

test('the pages of a folder stand below its index, and its link is that of its page', () => {
  const text =
    '4. [Servers](/guide/servers/index.md): [A](/guide/servers/a.md),\n   [B](/guide/servers/b.md), [c](/guide/c.md)\n'
  expect(contents(text, 'guide')).toEqual([
    {
      text: 'Servers',
      link: '/guide/servers/',
      items: [
        { text: 'A', link: '/guide/servers/a' },
        { text: 'B', link: '/guide/servers/b' },
      ],
    },
  ])
})

test('of a table, only the first link of each row is listed', () => {
  const text = '## Functions\n\n| [f](functions/f.md) | Like [g](functions/g.md) |\n'
  expect(contents(text, 'reference/a')).toEqual([
    { text: 'Functions', items: [{ text: 'f', link: '/reference/a/functions/f' }] },
  ])
})
