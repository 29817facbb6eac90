import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { pack, packed } from './pack.ts'
import { publicPackages, type PublicPackage, readManifest, root } from './packages.ts'
import { must } from './run.ts'

/** A package, its tarball, and where it is unpacked. */
export interface InstalledPackage extends PublicPackage {
  readonly tarball: string
  readonly installed: string
}

/** A project outside of the workspace that has the tarballs installed. */
export interface Project extends Disposable {
  readonly folder: string
  readonly packages: readonly InstalledPackage[]
}

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP']
const exit = (): void => process.exit(1)
const here = fileURLToPath(new URL('..', import.meta.url))

/**
 * Unpacks every public package into a copy of `consumer`: the tarballs of a folder, or of packages that are built and packed
 * for it. Each package finds its own dependencies and no others, as the workspace has them installed, so this needs no network.
 */
export async function makeProject(given?: string): Promise<Project> {
  const temp = realpathSync(mkdtempSync(join(tmpdir(), 'tokenlane-packages-')))
  const removeTemp = (): void => rmSync(temp, { recursive: true, force: true })
  process.on('exit', removeTemp)
  for (const signal of stopSignals) process.on(signal, exit)
  const remove = (): void => {
    removeTemp()
    process.off('exit', removeTemp)
    for (const signal of stopSignals) process.off(signal, exit)
  }

  const folder = join(temp, 'project')
  cpSync(join(here, 'consumer'), folder, { recursive: true })
  if (given === undefined) await must('the build', process.execPath, ['scripts/build.ts'], { cwd: root })
  const tarballs = given ?? (await pack(join(temp, 'tarballs')))
  const files = new Map(packed().map(({ name, file }) => [name, file]))
  const packages = publicPackages().map((item) =>
    Object.assign(item, {
      tarball: join(tarballs, files.get(item.name) ?? ''),
      installed: join(folder, 'node_modules', item.name),
    }),
  )
  for (const item of packages) await install(folder, item, (name) => files.has(name))
  for (const name of Object.keys(readManifest(folder).dependencies ?? {})) link(here, folder, name)
  return { folder, packages, [Symbol.dispose]: remove }
}

async function install(
  project: string,
  { tarball, installed, folder }: InstalledPackage,
  isOurs: (name: string) => boolean,
): Promise<void> {
  mkdirSync(installed, { recursive: true })
  const flags = ['-xzf', tarball, '-C', installed, '--strip-components=1']
  await must(`unpacking ${tarball}`, 'tar', flags, { cwd: installed })
  const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = readManifest(installed)
  for (const name of Object.keys(dependencies)) if (!isOurs(name)) link(folder, installed, name)
  // as npm does, beside the package
  for (const name of Object.keys(peerDependencies))
    if (!isOurs(name) && peerDependenciesMeta[name]?.optional !== true) link(folder, project, name)
}

/** Makes a dependency of a folder of the workspace one of another folder. */
function link(from: string, to: string, name: string): void {
  const place = join(to, 'node_modules', name)
  if (existsSync(place)) return
  mkdirSync(dirname(place), { recursive: true })
  symlinkSync(realpathSync(join(from, 'node_modules', name)), place, 'junction')
}
