import { rmSync } from 'node:fs'
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
