import { builtinModule } from '../runtime/builtin-module.ts'
import { type AssertionProvider, unreadable } from './credentials.ts'

/** Returns the text of a file without the white space around it; throws for a file without text. */
export function textIn(path: string): string {
  const text = textIfThere(path)
  if (!text) throw unreadable(`the file ${path} is ${text === undefined ? 'missing' : 'empty'}`)
  return text
}

/** Returns the text of a file without the white space around it, `undefined` if the file does not exist. */
export function textIfThere(path: string): string | undefined {
  const fs = builtinModule('node:fs') as typeof import('node:fs') | undefined
  if (fs === undefined) throw unreadable(`the file ${path} cannot be read: this runtime has no \`node:fs\``)
  return ifThere(() => fs.readFileSync(path, 'utf8').trim(), `the file ${path}`)
}

/** Returns what `look` returns, `undefined` for the codes of the file system that say that nothing is there. */
export function ifThere<T>(look: () => T, what: string, absent = 'ENOENT'): T | undefined {
  try {
    return look()
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === absent) return undefined
    throw unreadable(`${what} cannot be read (${code})`)
  }
}

/** Returns an assertion that is read from a file at every token request: nothing of it is kept. */
export function assertionFile(path: string): AssertionProvider {
  // `toJSON` tells two files of one client apart
  return Object.assign(() => textIn(path), { readsFrom: () => path, toJSON: () => path })
}
