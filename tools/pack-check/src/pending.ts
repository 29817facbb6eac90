import { readdirSync } from 'node:fs'

/** Returns the changes that no version contains yet: a release must not leave them out, nor be version 0.0.0. */
export function pendingIn(changesets: string | URL): string[] {
  return readdirSync(changesets).filter((name) => name.endsWith('.md') && name !== 'README.md')
}
