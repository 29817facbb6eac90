import { expect, test } from 'vitest'
import { withTabs } from './tabs.ts'

test('blocks that follow each other become tabs, named by the comments in their first lines', () => {
  expect(withTabs('a\n\n```ts\n// got\none()\n```\n\n```ts\n// ky\n\ntwo()\n```\n\nb\n')).toBe(
    'a\n\n::: code-group\n\n```ts [got]\none()\n```\n\n```ts [ky]\ntwo()\n```\n\n:::\n\nb\n',
  )
})

test('a block alone keeps its file name, and text or another language keeps two blocks apart', () => {
  for (const text of [
    '```ts\n// tokens.ts\none()\n```\n',
    '```js\n// before\n1\n```\n\n```ts\n// after\n2\n```\n',
    '```ts\n// a\n1\n```\n\nand\n\n```ts\n// b\n2\n```\n',
  ])
    expect(withTabs(text)).toBe(text)
})
