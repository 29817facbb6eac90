import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

// The `ts` blocks of every README and of the guide, which show what users write.

export const root: URL = new URL('../../../', import.meta.url)

/** A page, and its blocks. */
export interface Page {
  /** From the root. */
  readonly page: string
  /** Begin of the names of its files. */
  readonly file: string
  readonly blocks: readonly string[]
}

/** What a block begins with that is a file of an example, whose tests run it there: `// mcp/client.ts`. */
const fileOfExample = /^\/\/ (?:(?:[\w-]+: )?records\b[\w.-]*|[\w-]+\/[\w-]+)\.ts\n/

/** Every page that shows code. */
export const pages: readonly Page[] = [
  'README.md',
  ...readdirSync(new URL('packages/', root)).map((name) => `packages/${name}/README.md`),
  ...readdirSync(new URL('docs/guide/', root), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/guide/${name}`),
]
  .map((page) => ({ page, file: page.replaceAll(/\W+/g, '-'), blocks: blocksOf(page) }))
  .filter(({ blocks }) => blocks.length > 0)

function blocksOf(page: string): string[] {
  const text = readFileSync(new URL(page, root), 'utf8')
  const blocks = Array.from(text.matchAll(/^```ts\n(.*?)^```$/gms), ([, code = '']) => code)
  return blocks.filter((code) => !fileOfExample.test(code))
}

/** Writes the blocks into a new folder, where they find the packages; `change` makes of a block what is written. */
export function writeBlocks(name: string, change = (code: string): string => code): URL {
  const folder = new URL(`generated/${name}/`, import.meta.url)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const { file, blocks } of pages)
    for (const [index, code] of blocks.entries())
      writeFileSync(new URL(`${file}-${index + 1}.ts`, folder), change(code))
  // what the README calls the bootstrap
  const bootstrap = pages.flatMap(({ blocks }) => blocks).find((code) => code.includes('export const tokens'))
  writeFileSync(new URL('tokens.ts', folder), change(bootstrap ?? ''))
  return folder
}
