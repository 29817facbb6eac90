// Builds every package, as it is published. With `--tarballs` also packs them into the folder `tarballs`, for applications
// outside of the workspace, and prints the line that installs them.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { shippedPages } from './shipped-pages.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const node = (...args: readonly string[]): unknown =>
  execFileSync(process.execPath, args, { cwd: root, stdio: 'inherit' })

// `tsc -b --clean` leaves what came of sources that are gone
for (const name of readdirSync(join(root, 'packages')))
  rmSync(join(root, 'packages', name, 'dist'), { recursive: true, force: true })
node('node_modules/typescript/bin/tsc', '-b', 'tsconfig.build.json')
node('scripts/bundle.mjs')
node('packages/sandbox/console/build.ts')

for (const [copy, text] of shippedPages()) {
  mkdirSync(dirname(join(root, copy)), { recursive: true })
  writeFileSync(join(root, copy), text)
}

if (process.argv.includes('--tarballs')) node('tools/pack-check/src/tarballs.ts')
