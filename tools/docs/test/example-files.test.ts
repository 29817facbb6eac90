import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { root } from './blocks.ts'

// A block of the guide that begins with `// mcp/client.ts` is that file of the examples, which their tests run.

const guide = new URL('docs/guide/', root)
const pages = readdirSync(guide, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
const shown = pages.flatMap((page) =>
  Array.from(
    readFileSync(new URL(page, guide), 'utf8').matchAll(/^```ts\n\/\/ ([\w-]+\/[\w-]+\.ts)\n(.*?)^```$/gms),
    ([, file = '', code = '']) => ({ page, file, code }),
  ),
)

test('the guide shows files of examples', () => {
  expect(shown.length).toBeGreaterThan(1)
})

test.each(shown)('what $page shows as $file is that file', ({ file, code }) => {
  expect(code).toBe(readFileSync(new URL(`examples/${file}`, root), 'utf8'))
})
