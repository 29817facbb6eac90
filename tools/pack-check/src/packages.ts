import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root: string = fileURLToPath(new URL('../../../', import.meta.url))

/** What is read of a package.json. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly exports?: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** A package that is published. */
export interface PublicPackage {
  readonly folder: string
  readonly name: string
  /** What users import: `@tokenlane/core`, `@tokenlane/core/node`. */
  readonly entries: readonly string[]
  /** The built declarations of each entry, a path below `folder`. */
  readonly declarations: ReadonlyMap<string, string>
}

export const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

/** Every package of the workspace that is not private. */
export function publicPackages(): PublicPackage[] {
  return readdirSync(join(root, 'packages'))
    .map((name) => join(root, 'packages', name))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .map((folder) => ({ folder, manifest: readManifest(folder) }))
    .filter(({ manifest }) => manifest.private !== true)
    .map(({ folder, manifest: { name, exports = {} } }) => {
      const declarations = new Map(
        Object.entries(exports)
          .filter(([path]) => path !== './package.json')
          .map(([path, source]) => [name + path.slice(1), declarationsOf(String(source))]),
      )
      return { folder, name, entries: [...declarations.keys()], declarations }
    })
}

/** `dist/command/command.d.ts` for `./src/command/command.ts` */
function declarationsOf(source: string): string {
  return source.replace(/^\.\/src\//, 'dist/').replace(/\.ts$/, '.d.ts')
}
