import { expect, test } from 'vitest'
import { llmsText } from './llms.ts'

test('llms.txt has the title, the link and the first sentence of each page, in order', () => {
  const text = llmsText(
    new Map([
      ['guide/b.md', '# `b`\n\nTakes [a link](/c.md)\nof two lines. More.\n'],
      ['guide/a.md', '# A\n\n```ts\nx\n```\n\nSays a.\n'],
    ]),
  )
  expect(text.split('\n').slice(-3)).toEqual([
    '- [A](/guide/a.html): Says a.',
    '- [b](/guide/b.html): Takes a link of two lines.',
    '',
  ])
})
