import { expect, test } from 'vitest'
import { siteLinks } from './links.ts'

test('a link to a text becomes one to its page, with its anchor', () => {
  expect(siteLinks('[a](../../packages/core)', 'docs/guide/README.md')).toBe('[a](/packages/core.md)')
  expect(siteLinks('[a](../../SECURITY.md#tls)', 'docs/guide/README.md')).toBe('[a](/security.md#tls)')
  expect(siteLinks('[`a`](docs/guide)', 'README.md')).toBe('[`a`](/guide/index.md)')
})

test('a link may go over the end of a line', () => {
  expect(siteLinks('[a\nb](packages/core)', 'README.md')).toBe('[a\nb](/packages/core.md)')
})

test('a link to the code of an example becomes one to its heading', () => {
  expect(siteLinks('[a](examples/quickstart/bootstrap.ts)', 'README.md')).toBe(
    '[a](/examples/quickstart.md#bootstrap-ts)',
  )
})

test('a link to a file that is no page becomes its text', () => {
  expect(siteLinks('see [the `LICENSE`](LICENSE).', 'README.md')).toBe('see the `LICENSE`.')
  expect(siteLinks('[testing](tools/testing)', 'README.md')).toBe('testing')
})

test('parentheses that hold nothing but a link to a file that is no page are left out', () => {
  expect(siteLinks('arrives ([the\nproof](LICENSE)). Two', 'README.md')).toBe('arrives. Two')
  expect(siteLinks('(see [a](LICENSE)) ([core](packages/core))', 'README.md')).toBe(
    '(see a) ([core](/packages/core.md))',
  )
})

test('a picture becomes one of the site', () => {
  expect(siteLinks('![a](../images/quickstart-narrow.svg)', 'docs/guide/batch.md')).toBe(
    '![a](/images/quickstart-narrow.svg)',
  )
  expect(siteLinks('<source media="print" srcset="docs/images/quickstart.svg">', 'README.md')).toBe(
    '<source media="print" srcset="/images/quickstart.svg">',
  )
  expect(siteLinks('<img src="docs/images/quickstart.svg" alt="a">', 'README.md')).toBe(
    '<img src="/images/quickstart.svg" alt="a">',
  )
  expect(() => siteLinks('![a](none.svg)', 'README.md')).toThrow('not in docs/images')
})

test('a picture with a narrow form beside it becomes both, with the quotes of its text escaped', () => {
  expect(siteLinks('![the "a" & b](images/quickstart.svg)', 'docs/compare.md')).toBe(
    '<picture><source media="(max-width: 640px)" srcset="/images/quickstart-narrow.svg">' +
      '<img src="/images/quickstart.svg" alt="the &quot;a&quot; &amp; b"></picture>',
  )
})

test('a link to a file that does not exist is an error that names it', () => {
  expect(() => siteLinks('[a](none.md)', 'docs/guide/batch.md')).toThrow(
    'docs/guide/batch.md links to none.md, which does not exist',
  )
  expect(() => siteLinks('[a](../../etc/passwd)', 'README.md')).toThrow('does not exist')
})

test('code, anchors and links to elsewhere stay as they are', () => {
  for (const text of [
    '```md\n[a](none.md)\n<img src="none.svg">\n```',
    '[a](#b)',
    '[a](https://example.com/a)',
  ])
    expect(siteLinks(text, 'README.md')).toBe(text)
})
