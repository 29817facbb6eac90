// The page of an example is its README and its code.
import { readFileSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { root } from './pages.ts'

/** The files of an example, below its README; tests and generated code are left out. */
export function withFiles(text: string, readme: string): string {
  const folder = join(root, dirname(readme))
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  const sections = files.map(
    (name) => `## ${basename(name)}\n\n\`\`\`ts\n${readFileSync(join(folder, name), 'utf8')}\`\`\`\n`,
  )
  return [text, ...sections].join('\n')
}
