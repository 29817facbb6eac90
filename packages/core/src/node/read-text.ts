import { readFileSync } from 'node:fs'
import { unreadable } from '../credentials/credentials.ts'

/** Returns the text of a file without the white space around it, `undefined` if the file does not exist. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw unreadable(`the file ${path} cannot be read (${codeOf(error)})`)
  }
}

/** Returns the file system's code, such as EACCES. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error'
}
