// The changelog: the notes of the next release, then the changelogs that releases wrote.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './pages.ts'

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
