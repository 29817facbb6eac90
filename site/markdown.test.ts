import markdownIt from 'markdown-it'
import { expect, test } from 'vitest'

import { drawn, frames, slugOf, withPackageManagers, withTabs } from './markdown.ts'

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

const framed = (text: string): string => {
  const md = markdownIt()
  frames(md as never)
  return md.render(text)
}

test('a cell knows the head of its column, so that a phone can show it above the cell', () => {
  const html = framed('| code | cause | what to do |\n| --- | --- | --- |\n| `A` | a | Do *this* |\n')
  expect(html).toContain(
    '<td><code>A</code></td>\n<td data-head="cause">a</td>\n<td data-head="what to do">Do',
  )
})

test('the only column beside the first needs no head on a phone', () => {
  expect(framed('| option | meaning |\n| --- | --- |\n| `A` | a |\n')).not.toContain('data-head')
})

test('a table with a long cell is one of sentences, one of figures is not', () => {
  expect(framed(`| a | b |\n| --- | --- |\n| a | ${'b'.repeat(41)} |\n`)).toMatch(
    /^<div class="frame sentences"/,
  )
  expect(framed(`| a | b |\n| --- | --- |\n| ${'a'.repeat(41)} | 1 |\n`)).toMatch(
    /^<div class="frame" tabindex="0">/,
  )
})

test('an empty head is a plain cell', () => {
  expect(framed('|   | b |\n| --- | --- |\n| a | 1 |\n')).toContain('<td></td>\n<th>b</th>')
})

test('a diagram becomes an SVG that loads nothing from elsewhere', () => {
  const svg = drawn('flowchart LR\n  accTitle: One leads to two\n  a["one"] --> b["two"]')
  expect(svg).toMatch(/^<svg/)
  expect(svg).toContain('one')
  expect(svg).toContain('role="img" aria-label="One leads to two"')
  expect(svg).not.toMatch(/https?:\/\/(?!www\.w3\.org)/)
})

test('a diagram leaves colours and fonts to the page', () => {
  expect(drawn('flowchart LR\n  accTitle: One leads to two\n  a --> b')).not.toMatch(/<style| style="/)
})

test('a diagram without a title for readers who cannot see it is an error', () => {
  expect(() => drawn('flowchart LR\n  a --> b')).toThrow('a diagram needs a line "accTitle: …"')
})

test('a block that installs packages has a tab for each package manager', () => {
  const text = withPackageManagers('Then:\n\n```sh\nnpm install @tokenlane/core axios\n```\n\nDone.\n')
  expect(text).toMatch(/^Then:\n\n::: code-group\n\n```sh \[npm\]\nnpm install @tokenlane\/core axios\n```\n/)
  expect(text).toContain('```sh [pnpm]\npnpm add @tokenlane/core axios\n```')
  expect(text).toContain('```sh [yarn]\nyarn add @tokenlane/core axios\n```')
  expect(text).toMatch(/```sh \[bun\]\nbun add @tokenlane\/core axios\n```\n\n:::\n\nDone\.\n$/)
})

test('each package manager has its own option for development', () => {
  const text = withPackageManagers('```sh\nnpm install --save-dev vitest\n```\n')
  expect(text).toContain('yarn add --dev vitest')
  expect(text).toContain('pnpm add --save-dev vitest')
})

test.each(['npm start', 'npm install ../a.tgz && npm start', 'npm install', 'npm install x\nnpx y'])(
  'a block with "%s" stays as it is',
  (command) => {
    const text = `\`\`\`sh\n${command}\n\`\`\`\n`
    expect(withPackageManagers(text)).toBe(text)
  },
)

test.each([
  ['TOKEN_REQUEST_FAILED', 'token_request_failed'],
  ['There is no error, but', 'there-is-no-error-but'],
  ['bootstrap.ts', 'bootstrap-ts'],
  ['When it does not work?', 'when-it-does-not-work'],
  ['2.0', '_2-0'],
])('the anchor of %s is %s', (heading, anchor) => {
  expect(slugOf(heading)).toBe(anchor)
})
