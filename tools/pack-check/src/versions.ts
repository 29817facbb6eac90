// A version has its tag once what npm has of it was compared.
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'

import type { Packed } from './pack.ts'

/** Returns the name of a version's tag. */
export function tagOf({ name, version }: Packed): string {
  return `${name}@${version}`
}

/** Returns whether a version has its tag, by the tags of the repository that holds `folder`. */
export function taggedIn(folder: string): (item: Packed) => boolean {
  const tags = execFileSync('git', ['tag', '--list'], { cwd: folder, encoding: 'utf8' }).split('\n')
  return (item) => tags.includes(tagOf(item))
}

/** Returns the changes that no version contains yet: a release must not leave them out, nor be version 0.0.0. */
export function pendingIn(changesets: string | URL): string[] {
  return readdirSync(changesets).filter((name) => name.endsWith('.md') && name !== 'README.md')
}
