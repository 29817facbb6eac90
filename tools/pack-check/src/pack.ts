import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { publicPackages, readManifest, root } from './packages.ts'
import { must } from './run.ts'

/** A version of a package, packed. */
export interface Packed {
  readonly name: string
  readonly version: string
  /** The name of its tarball. */
  readonly file: string
}

/** Returns the packages that are published, with the names that their tarballs have. */
export function packed(): Packed[] {
  return publicPackages().map(({ folder, name }) => {
    const { version } = readManifest(folder)
    return { name, version, file: `${name.replace('@', '').replace('/', '-')}-${version}.tgz` }
  })
}

/** Returns the name of the CycloneDX file that says what a package depends on. */
export function sbomOf({ file }: Packed): string {
  return file.replace(/\.tgz$/, '.cdx.json')
}

/** Packs every built package into a folder, which holds nothing else then. */
export async function pack(folder: string = join(root, 'tarballs')): Promise<string> {
  rmSync(folder, { recursive: true, force: true })
  const each = packed().flatMap(({ name }) => ['--filter', name])
  await must('packing', 'pnpm', ['--recursive', ...each, 'pack', '--pack-destination', folder], { cwd: root })
  return folder
}

// The list of what is released, in the form that `sha512sum --check` reads.
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

// A version has its tag once what npm has of it was compared.
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
