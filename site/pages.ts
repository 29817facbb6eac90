// Which text of the repository is which page of the site.
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { slugOf } from './markdown.ts'

export const root: string = fileURLToPath(new URL('../', import.meta.url))

/** Where a text of the repository is on the site; `undefined` for one that is not there. */
export function pageOf(path: string): string | undefined {
  if (path === 'README.md') return 'index.md'
  if (path === 'SECURITY.md') return 'security.md'
  if (/^docs\/.+\.md$/.test(path)) return path.slice('docs/'.length).replace(/README\.md$/, 'index.md')
  if (path === 'CONTRIBUTING.md') return 'contributing.md'
  if (path === 'examples/README.md') return 'examples/index.md'
  const [, folder, name = ''] = /^(packages|examples)\/([^/]+)\/README\.md$/.exec(path) ?? []
  if (folder === 'packages' && !isPublic(name)) return undefined
  return folder && `${folder}/${name}.md`
}

function isPublic(name: string): boolean {
  const manifest = readFileSync(`${root}packages/${name}/package.json`, 'utf8')
  return (JSON.parse(manifest) as { private?: boolean }).private !== true
}

/** Every text that is a page, in no order. */
export function texts(): string[] {
  const places = ['*.md', 'docs/**/*.md', '{packages,examples}/*/README.md', 'examples/README.md']
  return globSync(places, { cwd: root, exclude: ['**/node_modules/**'] })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => pageOf(path) !== undefined)
}

/** The text that stands for a path of the repository: a folder stands for its README. */
export function textAt(path: string): string | undefined {
  for (const text of [path, `${path}/README.md`])
    if (existsSync(`${root}${text}`) && pageOf(text) !== undefined) return text
  return undefined
}

/** The example that a file belongs to, whose page shows it. */
export function exampleOf(path: string): string | undefined {
  return /^examples\/[^/]+\/[\w.-]+\.ts$/.test(path) ? textAt(dirname(path)) : undefined
}

// The changelog: the notes of the next release, then the changelogs that releases wrote.
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const inOrder = (pattern: string): string[] => globSync(pattern, { cwd: root }).toSorted()

/** Returns the page. */
export function changelog(): string {
  const notes = inOrder('.changeset/*.md').map((path) => {
    const [, packages = '', text = ''] = /^---\n([^]*?)\n---\n+([^]*)$/.exec(read(path)) ?? []
    const names = Array.from(packages.matchAll(/'([^']+)'/g), ([, name]) => `\`${name}\``)
    return `- **${names.join(', ')}**: ${text.trim().replaceAll('\n', '\n  ')}`
  })
  const released = inOrder('packages/*/CHANGELOG.md').map(
    (path) =>
      `## ${dirname(path)}\n\n${read(path)
        .replace(/^# .+\n+/, '')
        .replaceAll(/^#/gm, '##')}`,
  )
  return [
    '# Changelog',
    ...(notes.length > 0 ? ['## Next release', notes.join('\n')] : []),
    ...released,
  ].join('\n\n')
}

// The page of an example is its README and its code.
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
