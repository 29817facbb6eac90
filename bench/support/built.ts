import { execSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const bench = dirname(import.meta.dirname)
const root = dirname(bench)
const built = ['core', 'fetch', 'axios', 'got', 'ky']

/**
 * Builds the packages and puts them into a folder of their own as a user has them, beside what else is measured, with
 * `children/` and `peers/`. The folder goes when this process ends.
 */
export function installBuilt(): string {
  execSync('tsc -b tsconfig.build.json && node scripts/bundle.mjs', {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const folder = mkdtempSync(join(tmpdir(), 'start-up-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const modules = join(folder, 'node_modules')
  for (const name of built) installOwn(name, join(modules, '@tokenlane', name))
  const { dependencies } = manifestOf(bench) as { dependencies: Record<string, string> }
  for (const name of Object.keys(dependencies)) {
    if (name.startsWith('@tokenlane/')) continue
    installOther(realpathSync(join(bench, 'node_modules', name)), join(modules, name))
  }
  for (const name of ['children', 'peers', 'support'])
    cpSync(join(bench, name), join(folder, name), { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  return folder
}

/** As npm does; one with dependencies finds them only where it is. */
function installOther(from: string, to: string): void {
  const { dependencies = {} } = manifestOf(from)
  mkdirSync(dirname(to), { recursive: true })
  if (Object.keys(dependencies as object).length === 0) cpSync(from, to, { recursive: true })
  else symlinkSync(from, to, 'junction')
}

/** With what `publishConfig` says in the place of what the workspace uses. */
function installOwn(name: string, to: string): void {
  const from = join(root, 'packages', name)
  cpSync(join(from, 'dist'), join(to, 'dist'), { recursive: true })
  const { publishConfig, ...manifest } = manifestOf(from)
  writeFileSync(join(to, 'package.json'), JSON.stringify({ ...manifest, ...(publishConfig as object) }))
}

function manifestOf(folder: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>
}
