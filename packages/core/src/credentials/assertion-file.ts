import { builtinModule } from '../runtime/builtin-module.ts'
import { type AssertionProvider, unreadable } from './credentials.ts'

/**
 * Returns an assertion that is read from a file whenever it is needed: nothing of it is kept, and no timer runs, so that a
 * file which was replaced is used at the next token request.
 */
export function assertionFile(path: string): AssertionProvider {
  // `toJSON` tells two files of one client apart
  return Object.assign(() => readAssertion(path), { readsFrom: () => path, toJSON: () => path })
}

function readAssertion(path: string): string {
  // without an import, which edge runtimes would stumble over
  const fs = builtinModule('node:fs') as typeof import('node:fs') | undefined
  if (fs === undefined) throw unreadable(`the file ${path} cannot be read: this runtime has no \`node:fs\``)
  let text: string
  try {
    text = fs.readFileSync(path, 'utf8').trim()
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    throw unreadable(`the file ${path} ${code === 'ENOENT' ? 'is missing' : `cannot be read (${code})`}`)
  }
  if (text === '') throw unreadable(`the file ${path} is empty`)
  return text
}
