// The page of an example is its README and its code.
import { readFileSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { root } from './pages.ts'
import { slugOf } from './slug.ts'

/** Returns the README of an example with its files below: all that it links to, and all that are not tests. */
export function withFiles(text: string, readme: string): string {
  const folder = join(root, dirname(readme))
  const files = readdirSync(folder).filter(
    (name) => name.endsWith('.ts') && (!name.endsWith('.test.ts') || text.includes(`#${slugOf(name)})`)),
  )
  const sections = files.map(
    (name) => `## ${basename(name)}\n\n\`\`\`ts\n${readFileSync(join(folder, name), 'utf8')}\`\`\`\n`,
  )
  return [text, ...sections].join('\n')
}
