import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { pack, packed } from './pack.ts'
import { publicPackages, type PublicPackage, readManifest, root } from './packages.ts'
import { openRegistry } from './registry.ts'
import { must } from './run.ts'

/** A package, its tarball, and where npm put it. */
export interface InstalledPackage extends PublicPackage {
  readonly tarball: string
  readonly installed: string
}

/** A project outside of the workspace that has the tarballs installed. */
export interface Project extends Disposable {
  readonly folder: string
  readonly packages: readonly InstalledPackage[]
}

const consumer = fileURLToPath(new URL('../consumer', import.meta.url))

/**
 * Installs every public package with npm into a copy of `consumer`: the tarballs of a folder, or of packages that are built
 * and packed for it.
 */
export async function makeProject(given?: string): Promise<Project> {
  const temp = realpathSync(mkdtempSync(join(tmpdir(), 'tokenlane-packages-')))
  const removeTemp = (): void => rmSync(temp, { recursive: true, force: true })
  process.on('exit', removeTemp)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1))

  const folder = join(temp, 'project')
  cpSync(consumer, folder, { recursive: true })
  if (given === undefined) await must('the build', process.execPath, ['scripts/build.ts'], { cwd: root })
  const tarballs = given ?? (await pack(join(temp, 'tarballs')))
  const files = new Map(packed().map(({ name, file }) => [name, file]))
  const packages = publicPackages().map((item) =>
    Object.assign(item, {
      tarball: join(tarballs, files.get(item.name) ?? ''),
      installed: join(folder, 'node_modules', item.name),
    }),
  )
  await install({ folder, packages, temp })
  return { folder, packages, [Symbol.dispose]: removeTemp }
}

async function install({
  folder,
  packages,
  temp,
}: {
  folder: string
  packages: readonly InstalledPackage[]
  temp: string
}): Promise<void> {
  const ours = packages.map(async ({ name, tarball }) => ({
    manifest: await packedManifest(tarball, join(temp, 'manifests', name)),
    tarball: () => tarball,
  }))
  await using registry = await openRegistry(await Promise.all(ours), temp)
  // settings of this machine are not the stranger's
  const npmrc = join(temp, 'npmrc')
  writeFileSync(npmrc, '')
  const settings = {
    registry: registry.url,
    cache: join(temp, 'npm-cache'),
    userconfig: npmrc,
    proxy: null,
    'https-proxy': null,
    noproxy: '127.0.0.1',
    'ignore-scripts': true,
    'strict-peer-deps': true,
    audit: false,
    fund: false,
    'update-notifier': false,
  }
  const flags = Object.entries(settings).map(([name, value]) => `--${name}=${value}`)
  const names = packages.map(({ name }) => name)
  await must('npm install', 'npm', ['install', ...flags, ...names], { cwd: folder })
}

/** The manifest as pnpm packed it: without `workspace:` and `catalog:`. */
async function packedManifest(tarball: string, place: string): Promise<ReturnType<typeof readManifest>> {
  mkdirSync(place, { recursive: true })
  await must(`reading ${tarball}`, 'tar', ['-xzf', tarball, '-C', place, '--strip-components=1'], {
    cwd: place,
  })
  return readManifest(place)
}
