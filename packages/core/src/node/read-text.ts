import { readFileSync } from 'node:fs'
import { unreadable } from '../credentials/credentials.ts'

/** Returns the text of a file without the white space around it, `undefined` if the file does not exist. */
export function readText(path: string): string | undefined {
  return ifThere(() => readFileSync(path, 'utf8').trim(), `the file ${path}`)
}

/**
 * Returns what `look` returns, `undefined` if there is nothing to look at.
 *
 * @param what is looked at, for the error if it cannot be read.
 * @param absent the file system's code, besides ENOENT, that says so.
 */
export function ifThere<T>(look: () => T, what: string, absent = 'ENOENT'): T | undefined {
  try {
    return look()
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === absent) return undefined
    throw unreadable(`${what} cannot be read (${code})`)
  }
}
