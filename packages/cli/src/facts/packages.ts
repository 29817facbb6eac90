import { readFileSync, realpathSync } from 'node:fs'
// Bun has no `findPackageJSON`, and refuses to import a name that a module does not export
import nodeModule from 'node:module'

export interface PackageFacts {
  readonly name: string
  readonly version: string
  /** Path of the package.json of the copy of `@tokenlane/core` that it uses. */
  readonly core: string
}

const names = ['core', 'fetch', 'axios', 'got', 'ky', 'undici', 'redis', 'otel'].map(
  (name) => `@tokenlane/${name}`,
)

/** Returns the packages of the suite that Node finds from a file of the application. */
export function lookAtPackages(file: string): PackageFacts[] {
  return names.flatMap((name) => {
    const manifest = manifestOf(name, file)
    if (manifest === undefined) return []
    const core = name === '@tokenlane/core' ? manifest : manifestOf('@tokenlane/core', manifest)
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
    return core === undefined ? [] : [{ name, version, core }]
  })
}

function manifestOf(name: string, from: string): string | undefined {
  try {
    const path = nodeModule.findPackageJSON(name, from)
    return path === undefined ? undefined : realpathSync(path)
  } catch {
    return undefined
  }
}
