import { isTokenlaneError } from '../errors.ts'
import { builtinModule } from '../runtime/builtin-module.ts'
import { permissionFault } from '../runtime/permission.ts'
import { type AssertionProvider, unreadable } from './credentials.ts'

/** A secret, a key or an assertion has a few KiB; reading much more would hold up the process. */
const largest = 1_048_576

/** Returns the text of a file without the white space around it; throws for a file without text. */
export function textIn(path: string): string {
  const text = textIfThere(path)
  if (!text) throw unreadable(`the file ${path} is ${text === undefined ? 'missing' : 'empty'}`)
  return text
}

export function textIfThere(path: string): string | undefined {
  const fs = builtinModule('node:fs') as typeof import('node:fs') | undefined
  if (fs === undefined) throw unreadable(`the file ${path} cannot be read: this runtime has no \`node:fs\``)
  return ifThere(() => {
    const seen = fs.statSync(path)
    // a pipe or a device may hold up the process for ever
    if (!seen.isFile() && !seen.isDirectory()) throw unreadable(`${path} is a pipe or a device, not a file`)
    if (seen.size > largest) throw unreadable(`the file ${path} has more than 1 MiB`)
    const bytes = fs.readFileSync(path)
    // a PKCS#12 file begins with 0 and a length, as no text does: it is read as its Base64 text
    const isBinary = bytes[0] === 0x30 && (bytes[1] ?? 0) >= 0x80
    return bytes.toString(isBinary ? 'base64' : 'utf8').trim()
  }, `the file ${path}`)
}

/** Returns what `look` returns, `undefined` for the codes of the file system that say that nothing is there. */
export function ifThere<T>(look: () => T, what: string, absent = 'ENOENT'): T | undefined {
  try {
    return look()
  } catch (error) {
    if (isTokenlaneError(error)) throw error
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === absent) return undefined
    const denied = permissionFault(error)
    throw unreadable(`${what} cannot be read${denied === undefined ? ` (${code})` : `: ${denied}`}`)
  }
}

/** Returns an assertion that is read from a file at every token request: nothing of it is kept. */
export function assertionFile(path: string): AssertionProvider {
  // `toJSON` tells two files of one client apart, `version` a file from what replaced it
  return Object.assign(() => textIn(path), {
    readsFrom: () => path,
    toJSON: () => path,
    version: () => versionOf(path),
  })
}

function versionOf(path: string): string {
  try {
    const fs = builtinModule('node:fs') as typeof import('node:fs')
    const { mtimeMs, size, ino } = fs.statSync(path)
    return [mtimeMs, size, ino].join(' ')
  } catch {
    return ''
  }
}
