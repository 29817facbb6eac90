import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { shippedPages } from '../../../scripts/shipped-pages.ts'
import { slugOf } from '../../../site/markdown.ts'
import { root } from './blocks.ts'

const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const pages = shippedPages()
const troubleshoot = pages.get('packages/core/troubleshoot.md') ?? ''

test('the troubleshooting page of core names where each page is that it refers to', () => {
  const links = [
    ...read('docs/guide/troubleshoot.md').matchAll(/\[([^\]]+)\]\((?!https:|#)(?:\.\.\/)?([^)]+)\)/g),
  ]
  expect(links.length).toBeGreaterThan(10)
  for (const [, words, page] of links)
    expect(troubleshoot).toContain(`${words} (\`node_modules/tokenlane/guide/${page}\`)`)
})

/** Every page and section that a text names, as a path in the repository. */
function namedIn(text: string, folder: string): string[] {
  const paths = Array.from(text.matchAll(/node_modules\/[\w@/-]+\.md(?:#[\w-]+)?/g), ([path]) =>
    path.replace('node_modules/tokenlane', 'packages/cli').replace('node_modules/@tokenlane', 'packages'),
  )
  const links = Array.from(text.matchAll(/\]\((?!https:)([^)]+)\)/g), ([, link = '']) =>
    posix.join(folder, link),
  )
  return [...paths, ...links]
}

test.each([...pages])('%s names pages and sections that packages bring', (copy, text) => {
  // a link that begins with `#` is one to the page itself
  const named = namedIn(text.replaceAll('](#', `](${posix.basename(copy)}#`), posix.dirname(copy))
  expect(named.filter((path) => !exists(path))).toEqual([])
})

test('every alert names a page and section that a package brings', () => {
  const rules = read('packages/otel/dashboards/tokenlane.rules.yml')
  const named = namedIn(rules, '')
  expect(named).toHaveLength(rules.match(/- alert:/g)?.length ?? 0)
  expect(named.filter((path) => !exists(path))).toEqual([])
})

function exists(path: string): boolean {
  const [page = '', section] = path.split('#')
  const text = page.endsWith('/README.md') && !pages.has(page) ? read(page) : pages.get(page)
  const headings = text?.matchAll(/^#+ (.+)$/gm) ?? []
  return (
    text !== undefined &&
    (section === undefined || [...headings].some(([, title = '']) => slugOf(title) === section))
  )
}
