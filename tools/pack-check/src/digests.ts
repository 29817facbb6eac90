// The list of what is released, in the form that `sha512sum --check` reads.
import { hash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The name of the list. */
export const sums = 'SHA512SUMS'

/** Returns the SHA-512 of a file. */
export function digestOf(path: string, encoding: 'hex' | 'base64'): string {
  return hash('sha512', readFileSync(path), encoding)
}

/** Writes the list of all that lies in a folder. */
export function writeDigests(folder: string): void {
  const files = readdirSync(folder).filter((file) => file !== sums)
  const lines = files.toSorted().map((file) => `${digestOf(join(folder, file), 'hex')}  ${file}\n`)
  writeFileSync(join(folder, sums), lines.join(''))
}
