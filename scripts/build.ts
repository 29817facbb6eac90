// Builds every package, as it is published. With `--tarballs` also packs them into the folder `tarballs`, for applications
// outside of the workspace, and prints the line that installs them.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const node = (...args: readonly string[]): unknown =>
  execFileSync(process.execPath, args, { cwd: root, stdio: 'inherit' })

// `tsc -b --clean` leaves what came of sources that are gone
for (const name of readdirSync(join(root, 'packages')))
  rmSync(join(root, 'packages', name, 'dist'), { recursive: true, force: true })
node('node_modules/typescript/bin/tsc', '-b', 'tsconfig.build.json')
node('scripts/bundle.mjs')
node('packages/sandbox/console/build.ts')

// Messages point to pages of the guide: a user who has only the npm package can open them offline. Links to other pages
// become their text, since not all of those are in the package.
const guide = join(root, 'docs/guide')
const links = /\[([^\]]+)\]\((?!https:|#)[^)]+\)/g
const providers = readdirSync(join(guide, 'providers')).map((name) => `providers/${name.replace('.md', '')}`)
const pagesOf = {
  'packages/core': ['troubleshoot'],
  'packages/cli/guide': [
    'doctor',
    'fleet',
    'from-secret-to-none',
    'rate-policy',
    'rotate-secret',
    ...providers,
  ],
}
for (const [folder, pages] of Object.entries(pagesOf))
  for (const page of pages) {
    const copy = join(root, folder, `${page}.md`)
    mkdirSync(dirname(copy), { recursive: true })
    writeFileSync(copy, readFileSync(join(guide, `${page}.md`), 'utf8').replaceAll(links, '$1'))
  }

if (process.argv.includes('--tarballs')) node('tools/pack-check/src/tarballs.ts')
